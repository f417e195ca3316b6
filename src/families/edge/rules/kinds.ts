/** Names of the kinds in the API and the command line. */
export const kinds = {
  CLOUDLET: { type: 'Cloudlet', noun: 'cloudlet', agents: ['CRM'], isStanding: true },
  CLUSTER_INST: { type: 'ClusterInst', noun: 'cluster', agents: ['CRM'] },
  APP_INST: { type: 'AppInst', noun: 'app', agents: ['CRM'] },
} as const

export type EdgeKind = keyof typeof kinds
export type InstanceKind = Exclude<EdgeKind, 'CLOUDLET'>

/** On which an instance stands. */
export const PARENTS = { CLUSTER_INST: 'CLOUDLET', APP_INST: 'CLUSTER_INST' } as const
