import { integer, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import type { Family } from '../../family.ts'

const END_CRM_LEASE = statement({
  name: 'end-crm-lease',
  text: 'delete from crm_lease where cloudlet_id = $1 and epoch = $2',
  params: [uuid, integer],
})

const END_CRM_LEASES = statement({
  name: 'end-crm-leases',
  text: 'delete from crm_lease where cloudlet_id = $1',
  params: [uuid],
})

export const effects: Family['effects'] = {
  endCrmLease: async (client, _root, { cloudletId, epoch }) => {
    await END_CRM_LEASE.query(client, [cloudletId, epoch])
    return []
  },
  endCrmLeases: async (client, _root, cloudletId) => {
    await END_CRM_LEASES.query(client, [cloudletId])
    return []
  },
}
