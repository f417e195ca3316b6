import type { Client } from '../../store/client.ts'
import { loadKeyed } from '../../store/loaders/keyed.ts'
import type { CloudletDetails, InstanceDetails } from './details.ts'

/** The family's own columns as the API shows them, for many objects in one statement. */

export type ShownCloudlet = Omit<CloudletDetails, 'replaced'>
export const loadCloudlets = (client: Client, ids: readonly string[]) =>
  loadKeyed<ShownCloudlet>(
    client,
    `select object_id as key, version, wanted_version as "wantedVersion", epoch, sessions, upgrade_phase as "upgradePhase",
        upgrade_since as "upgradeSince", upgrade_due as "upgradeDue", connect_due as "connectDue", orphans,
        resynced_at as "resyncedAt"
      from cloudlet where object_id = any($1::uuid[])`,
    ids,
  )

export type ShownInstance = Pick<InstanceDetails, 'specRevision' | 'drifted' | 'undoing'>
export const loadInstances = (client: Client, ids: readonly string[]) =>
  loadKeyed<ShownInstance>(
    client,
    `select object_id as key, spec_revision as "specRevision", drifted, undoing
      from edge_inst where object_id = any($1::uuid[])`,
    ids,
  )

/** Until when each session of a cloudlet is kept, by its epoch. */
export const loadLeases = (client: Client, ids: readonly string[]) =>
  loadKeyed<{ readonly leases: Readonly<Record<string, string>> }>(
    client,
    `select cloudlet_id as key, jsonb_object_agg(epoch, lease_until) as leases
      from crm_lease where cloudlet_id = any($1::uuid[]) group by 1`,
    ids,
  )

/** Of each cloudlet the first instances that are not really as recorded. */
export const loadDrifted = (client: Client, ids: readonly string[]) =>
  loadKeyed<{ readonly ids: readonly string[] }>(
    client,
    `select o.root_id as key, (array_agg(o.id order by o.id))[:1000] as ids
      from object o join edge_inst i on i.object_id = o.id where o.root_id = any($1::uuid[]) and i.drifted group by 1`,
    ids,
  )
