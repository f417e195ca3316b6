/** What the commands of the three kinds differ in. */

export type EdgeKind = 'CLOUDLET' | 'CLUSTER_INST' | 'APP_INST'
export type InstanceKind = Exclude<EdgeKind, 'CLOUDLET'>

/** As its command is called. */
export const NOUNS = { CLOUDLET: 'cloudlet', CLUSTER_INST: 'cluster', APP_INST: 'app' } as const satisfies Readonly<
  Record<EdgeKind, string>
>
export const EXAMPLES = {
  CLOUDLET: 'edge1',
  CLUSTER_INST: 'edge1/cluster1',
  APP_INST: 'edge1/cluster1/app1',
} as const satisfies Readonly<Record<EdgeKind, string>>
export const PARENTS = { CLUSTER_INST: 'CLOUDLET', APP_INST: 'CLUSTER_INST' } as const satisfies Readonly<
  Record<InstanceKind, EdgeKind>
>
