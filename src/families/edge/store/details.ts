import { array, integer, json, uuid } from '../../../store/column-types.ts'
import { detailsTable } from '../../../store/columns.ts'
import { keyed, keyedDetails, keysOf } from '../../../store/loaders/keyed.ts'
import * as table from '../../../store/tables.ts'
import type { DetailsTable } from '../../family.ts'
import { type CloudletDetails, NEW_CLOUDLET, NEW_INSTANCE } from '../rules/details.ts'

/** The family's columns, as the engine reads and writes them. */
export const detailsTables: readonly DetailsTable[] = [
  detailsTable('cloudlet', ['CLOUDLET'], table.cloudlet, NEW_CLOUDLET),
  detailsTable('edge_inst', ['CLUSTER_INST', 'APP_INST'], table.edgeInst, NEW_INSTANCE),
]

/** Loads the family's columns for the API, for many objects in one statement. */

export const loadCloudlets = keyedDetails(
  'cloudlet',
  { ...table.cloudlet, sessions: json<CloudletDetails['sessions']>(), orphans: json<CloudletDetails['orphans']>() },
  keysOf(NEW_CLOUDLET),
)

export const loadInstances = keyedDetails('edge_inst', table.edgeInst, keysOf(NEW_INSTANCE, 'keptSpec'))

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
