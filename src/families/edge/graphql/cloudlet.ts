import type { ObjectRow } from '../../../core/tree.ts'
import { objectLoader, sideField } from '../../../graphql/loaders.ts'
import { pointingBlocker } from '../../../graphql/objects/common-blockers.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { ObjectKindEnum, PhaseEnum } from '../../../graphql/schema/enums.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import type { ReportedObject, Session } from '../rules/spec.ts'
import { cloudletLoader, driftedLoader, leaseLoader } from './loaders.ts'

export const CrmRoleEnum = builder.enumType('CrmRole', {
  description: 'Part that a CRM process plays for its cloudlet.',
  values: {
    CRM: { description: 'Serves the cloudlet: it gets all requests for instances.' },
    CRM_V1: {
      description:
        'The CRM that serves the cloudlet during an upgrade. connectCrm takes it as CRM, and sessions are shown as CRM.',
    },
    CRM_V2: {
      description:
        'The CRM that an upgrade brings up. It gets no requests until it has taken over, and is CRM from then on.',
    },
  } as const,
})

interface ConnectedCrm {
  readonly session: Session
  readonly leaseUntil: Date | null
}
const ConnectedCrmRef = builder.objectRef<ConnectedCrm>('ConnectedCrm').implement({
  description: 'The session of a CRM process that serves a cloudlet, served it last, or is brought up by an upgrade.',
  fields: (t) => ({
    role: t.field({
      type: CrmRoleEnum,
      description: 'Part of the process: CRM or CRM_V2.',
      resolve: ({ session }) => session.role,
    }),
    epoch: t.int({
      description:
        'Notify epoch of the session, from 1. Messages of a session that a newer epoch has replaced are refused.',
      resolve: ({ session }) => session.epoch,
    }),
    instance: t.string({
      description: 'Name that the process gave itself in connectCrm.',
      resolve: ({ session }) => session.instance,
    }),
    by: t.string({ description: 'Name of the principal of the process.', resolve: ({ session }) => session.name }),
    version: t.string({ description: 'Version of the CRM.', resolve: ({ session }) => session.version }),
    connectedAt: t.field({
      type: 'DateTime',
      description: 'When the process last called connectCrm.',
      resolve: ({ session }) => new Date(session.connectedAt),
    }),
    leaseUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when the session lasts unless it is renewed (renewLeases); null: it has disconnected.',
      resolve: ({ leaseUntil }) => leaseUntil,
    }),
  }),
})

const CrmOrphanRef = builder.objectRef<ReportedObject>('CrmOrphan').implement({
  description: 'An instance that the CRM reported and that has no record. It is shown only, never deleted.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'CLUSTER_INST or APP_INST.' }),
    path: t.stringList({
      description: 'Names from the cloudlet down: two for a cluster instance, three for an app instance.',
      resolve: ({ path }) => [...path],
    }),
    phase: t.expose('phase', { type: PhaseEnum, description: 'Phase that the CRM reported.' }),
    specRevision: t.exposeInt('specRevision', {
      nullable: true,
      description: 'Spec revision that the CRM reported; null if it reported none.',
    }),
  }),
})

export const CloudletRef = builder.objectRef<ObjectRow>('Cloudlet').implement({
  description:
    'An edge site, on which a CRM (cloudlet resource manager) creates, updates and deletes instances. Its phase is that of the connection to the CRM.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    upgradePhase: t.field({
      type: PhaseEnum,
      description:
        'Phase of its upgrade, in the machine cloudletUpgrade. READY if none runs; UPDATE_ERROR until resolveCloudletUpgrade if the last one failed.',
      resolve: sideField(cloudletLoader, 'upgradePhase', 'READY'),
    }),
    epoch: t.int({
      description:
        'Notify epoch of the CRM process that connected last: each new process gets the next one. 0 before the first.',
      resolve: sideField(cloudletLoader, 'epoch', 0),
    }),
    version: t.string({
      nullable: true,
      description: 'Version of the CRM that serves it, or served it last; null before the first connects.',
      resolve: sideField(cloudletLoader, 'version', null),
    }),
    wantedVersion: t.string({
      nullable: true,
      description: 'Version to which the running upgrade leads; null if none runs.',
      resolve: sideField(cloudletLoader, 'wantedVersion', null),
    }),
    agents: t.field({
      type: [ConnectedCrmRef],
      description:
        'Sessions of its CRMs: the one that serves it, or served it last, and during an upgrade that of the new CRM.',
      resolve: async ({ id }, _, context) => {
        const [details, leases] = await Promise.all([cloudletLoader(context).load(id), leaseLoader(context).load(id)])
        return (details?.sessions ?? []).map((session) => {
          const until = leases?.leases[session.epoch]
          return { session, leaseUntil: until ? new Date(until) : null }
        })
      },
    }),
    drifted: t.boolean({
      description: 'True if one of its instances is drifted.',
      resolve: async ({ id }, _, context) => (await driftedLoader(context).load(id)) !== null,
    }),
    driftedInstances: t.field({
      type: [TreeObjectRef],
      nullable: { list: false, items: true },
      description: 'Instances that are drifted, oldest first, at most 1,000; null for one that was deleted meanwhile.',
      args: {
        first: t.arg.int({ required: true, defaultValue: 100, description: 'Most entries to return; at most 1,000.' }),
      },
      complexity: ({ first }) => ({ field: 1, multiplier: Math.min(1_000, first) }),
      resolve: async ({ id }, { first }, context) => {
        const ids = (await driftedLoader(context).load(id))?.ids ?? []
        return ids.slice(0, Math.max(0, first)).map((of) => objectLoader(context).load(of))
      },
    }),
    driftedInstanceCount: t.int({
      description: 'Count of all instances that are drifted.',
      resolve: async ({ id }, _, context) => (await driftedLoader(context).load(id))?.count ?? 0,
    }),
    orphans: t.field({
      type: [CrmOrphanRef],
      description: 'Instances without a record that the CRM reported in the last resync; at most 1,000.',
      args: {
        first: t.arg.int({ required: true, defaultValue: 100, description: 'Most entries to return; at most 1,000.' }),
      },
      resolve: async ({ id }, { first }, context) =>
        ((await cloudletLoader(context).load(id))?.orphans ?? []).slice(0, Math.max(0, first)),
    }),
    orphanCount: t.int({
      description: 'Count of the orphans that are kept; 1,000 says that there may be more.',
      resolve: async ({ id }, _, context) => (await cloudletLoader(context).load(id))?.orphans.length ?? 0,
    }),
    resyncedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Time of the last resync, in which all that a CRM has is set against the record; null before the first.',
      resolve: sideField(cloudletLoader, 'resyncedAt', null),
    }),
  }),
})

pointingBlocker('CloudletBlocker', 'The instance waits for the CRM of its cloudlet, which is not connected.')
