import type { FamilyWords } from '../../core/vocabulary.ts'

export const words: FamilyWords = {
  kinds: {
    CLOUDLET:
      'An edge site whose instances a CRM (cloudlet resource manager) keeps. Its phase is that of its connection.',
    CLUSTER_INST: 'A cluster on a cloudlet.',
    APP_INST: 'An app in a cluster instance.',
  },
  actors: {
    CRM: 'The cloudlet resource manager, which keeps the instances of one cloudlet.',
    CRM_V1: 'The CRM that serves a cloudlet while an upgrade of that cloudlet runs.',
    CRM_V2: 'The CRM that an upgrade brings up to take over a cloudlet.',
  },
  phases: {
    INIT: 'Cloudlet: it waits for its CRM, or the start of the CRM is not acknowledged yet.',
    DELETING: 'Instance: its CRM removes it.',
    NOT_PRESENT: 'An instance does not exist at its cloudlet. Its record goes next, and its name is free again.',
    CREATE_REQUESTED: 'The creation of an instance is requested, and the CRM has not acknowledged it.',
    CREATING: 'The CRM creates an instance.',
    CREATE_ERROR: 'The creation of an instance failed or was withdrawn, and is undone.',
    READY:
      'Instance: it exists; `drifted` says whether it differs from its record. Cloudlet: its CRM is connected. Upgrade: none runs. Final.',
    UPDATE_REQUESTED: 'The update of an instance, or the upgrade of a cloudlet, is requested and not acknowledged.',
    UPDATING: 'Instance: the CRM updates it. Upgrade: the serving CRM has started the new one.',
    UPDATE_ERROR:
      'Instance: the update failed or was withdrawn, and the previous spec is restored. Upgrade: it failed, and an administrator has to resolve it with `resolveCloudletUpgrade`.',
    DELETE_PREPARE: 'The deletion of an instance is requested, and what it contains is removed first.',
    DELETE_REQUESTED: 'The CRM is asked to remove an instance and has not acknowledged it.',
    DELETED: 'The CRM has removed an instance. Its record goes next.',
    DELETE_ERROR: 'The deletion of an instance failed or was withdrawn; it is READY again next.',
    OFFLINE: 'No CRM of the cloudlet is connected. Final.',
    INIT_OK:
      'Cloudlet: the start of its CRM is acknowledged, and the CRM gathers its data. Upgrade: the new CRM is connected and acknowledged.',
  },
}
