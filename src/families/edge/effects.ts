import type { Family } from '../family.ts'

export const effects: Family['effects'] = {
  endCrmLease: async (client, _root, args) => {
    const { cloudletId, epoch } = args as { readonly cloudletId: string; readonly epoch: number }
    await client.query({
      name: 'end-crm-lease',
      text: 'delete from crm_lease where cloudlet_id = $1 and epoch = $2',
      values: [cloudletId, epoch],
    })
    return []
  },
  endCrmLeases: async (client, _root, cloudletId) => {
    await client.query({
      name: 'end-crm-leases',
      text: 'delete from crm_lease where cloudlet_id = $1',
      values: [cloudletId],
    })
    return []
  },
}
