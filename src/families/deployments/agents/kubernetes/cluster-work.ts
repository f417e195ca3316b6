import { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import type { KubernetesObject, ObjectRef } from '../../../../agents/kubernetes/objects.ts'
import type { Work, WorkContext, WorkItem, WorkOutcome } from '../../../../client/index.ts'
import { DeployError } from '../deploy-error.ts'
import { type ClusterOptions, openCluster } from './cluster.ts'
import { deploy } from './deploy.ts'
import { Discovery } from './discovery.ts'
import { Inventory, union } from './inventory.ts'
import { placeAll, type Run, refOf } from './placed.ts'
import type { ManifestConfig } from './read-config.ts'
import { deployErrorOf } from './refusals.ts'
import { removeItem } from './remove.ts'

/** The inputs of an item's manifests. */
export interface ManifestSource {
  readonly api: KubernetesApi
  /** The namespace of objects that name none, unless the config has another. */
  readonly namespace: string
  readonly context: WorkContext
}
/** Makes manifests of an item's config. @throws DeployError */
export type ReadManifests = (item: WorkItem, source: ManifestSource) => Promise<ManifestConfig>

/** Applies the manifests of items to a cluster, and deletes them. */
export const clusterWork =
  (options: ClusterOptions, read: ReadManifests): Work =>
  async (item, context) => {
    try {
      const source = await openSource(item, context, options)
      return item.action === 'DELETE' ? await remove(item, source, read) : await create(item, source, read)
    } catch (error) {
      if (context.signal.aborted) return { phase: 'ABORTED' }
      const known = deployErrorOf(error)
      if (!known) throw error
      return { phase: 'FAILED', error: { code: known.code, message: known.message } }
    }
  }

async function create(item: WorkItem, source: ManifestSource, read: ReadManifests): Promise<WorkOutcome> {
  return { phase: 'SUCCEEDED', exports: await deploy(runOf(item, source, await read(item, source))) }
}

/** Removes the objects of the inventory; if that is lost, those of the manifests. */
async function remove(item: WorkItem, source: ManifestSource, read: ReadManifests): Promise<WorkOutcome> {
  const run = runOf(item, source, await manifestsOrNone(item, source, read))
  await removeItem(run, union(await placesOf(run), await run.inventory.read()))
  await run.inventory.remove()
  return { phase: 'GONE' }
}

const NONE: ManifestConfig = { manifests: [] }

/** A config that cannot be read was never applied; one that cannot be read any more has its inventory. */
async function manifestsOrNone(item: WorkItem, source: ManifestSource, read: ReadManifests): Promise<ManifestConfig> {
  try {
    return await read(item, source)
  } catch (error) {
    if (error instanceof DeployError) return NONE
    throw error
  }
}

/** Kinds that the cluster does not have any more have no objects. */
async function placesOf(run: Run): Promise<readonly ObjectRef[]> {
  const { discovery, config } = run
  const isServed = async (manifest: KubernetesObject) => ((await discovery.resourceOf(manifest)) ? [manifest] : [])
  const manifests = (await Promise.all(config.manifests.map(isServed))).flat()
  return (await placeAll({ ...run, config: { ...config, manifests } })).map(refOf)
}

async function openSource(item: WorkItem, context: WorkContext, options: ClusterOptions): Promise<ManifestSource> {
  const { config, namespace } = await openCluster(options, item.target)
  const onRetry = ({ message }: Error): void =>
    context.report({ progress: { step: `The API server does not answer: ${message}` } })
  return { api: new KubernetesApi(config, context.signal, onRetry), namespace, context }
}

function runOf({ objectId: item }: WorkItem, source: ManifestSource, config: ManifestConfig): Run {
  const { api, namespace } = source
  return {
    ...{ ...source, item, config },
    namespace: config.namespace ?? namespace,
    discovery: new Discovery(api, config.manifests),
    inventory: new Inventory(api, item, namespace),
  }
}
