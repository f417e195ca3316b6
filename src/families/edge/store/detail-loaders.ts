import { array, integer, json, uuid } from '../../../store/column-types.ts'
import { keyed } from '../../../store/loaders/keyed.ts'
import * as table from '../../../store/tables.ts'
import type { CloudletDetails } from '../rules/details.ts'

/** Loads the family's columns for the API, for many objects in one statement. */

export const loadCloudlets = keyed(
  `select object_id as key, version, wanted_version as "wantedVersion", epoch, sessions, upgrade_phase as "upgradePhase",
        upgrade_since as "upgradeSince", upgrade_due as "upgradeDue", connect_due as "connectDue", orphans,
        resynced_at as "resyncedAt"
      from cloudlet where object_id = any($1::uuid[])`,
  {
    version: table.cloudlet.version,
    wantedVersion: table.cloudlet.wantedVersion,
    epoch: table.cloudlet.epoch,
    sessions: json<CloudletDetails['sessions']>(),
    upgradePhase: table.cloudlet.upgradePhase,
    upgradeSince: table.cloudlet.upgradeSince,
    upgradeDue: table.cloudlet.upgradeDue,
    connectDue: table.cloudlet.connectDue,
    orphans: json<CloudletDetails['orphans']>(),
    resyncedAt: table.cloudlet.resyncedAt,
  },
)

export const loadInstances = keyed(
  `select object_id as key, spec_revision as "specRevision", drifted, undoing
      from edge_inst where object_id = any($1::uuid[])`,
  { specRevision: table.edgeInst.specRevision, drifted: table.edgeInst.drifted, undoing: table.edgeInst.undoing },
)

/** End of the lease of each session of a cloudlet, by epoch. */
export const loadLeases = keyed(
  `select cloudlet_id as key, jsonb_object_agg(epoch, lease_until) as leases
      from crm_lease where cloudlet_id = any($1::uuid[]) group by 1`,
  { leases: json<Readonly<Record<string, string>>>() },
)

/** The first drifted instances of each cloudlet. */
export const loadDrifted = keyed(
  `select o.root_id as key, (array_agg(o.id order by o.id))[:1000] as ids, count(*)::integer as count
      from object o join edge_inst i on i.object_id = o.id where o.root_id = any($1::uuid[]) and i.drifted group by 1`,
  { ids: array(uuid), count: integer },
)
