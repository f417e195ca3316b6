import type { Work } from '../../../../client/index.ts'
import type { ClusterOptions } from './cluster.ts'
import { clusterWork } from './cluster-work.ts'
import { readConfig } from './read-config.ts'

/** The `kubernetes-manifest` deployer: applies the objects of the config to a cluster, and deletes them. */
export const manifestWork = (options: ClusterOptions): Work =>
  clusterWork(options, async ({ config }) => readConfig(config))
