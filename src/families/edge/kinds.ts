/** What the API and the command line call the kinds. */
export const kinds = {
  CLOUDLET: { type: 'Cloudlet', noun: 'cloudlet' },
  CLUSTER_INST: { type: 'ClusterInst', noun: 'cluster' },
  APP_INST: { type: 'AppInst', noun: 'app' },
} as const

export type EdgeKind = keyof typeof kinds
export type InstanceKind = Exclude<EdgeKind, 'CLOUDLET'>

/** On which an instance stands. */
export const PARENTS = { CLUSTER_INST: 'CLOUDLET', APP_INST: 'CLUSTER_INST' } as const
