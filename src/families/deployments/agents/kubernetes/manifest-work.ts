import { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import type { Work, WorkContext, WorkItem, WorkOutcome } from '../../../../client/index.ts'
import { DeployError } from '../deploy-error.ts'
import { type ClusterOptions, openCluster } from './cluster.ts'
import { deploy } from './deploy.ts'
import { Discovery } from './discovery.ts'
import { Inventory, union } from './inventory.ts'
import type { KubernetesObject, ObjectRef } from './objects.ts'
import { placeAll, type Run, refOf } from './placed.ts'
import { type ManifestConfig, readConfig } from './read-config.ts'
import { deployErrorOf } from './refusals.ts'
import { removeAll } from './remove.ts'

/** The `kubernetes-manifest` deployer: applies objects to a cluster, and deletes them. */
export const manifestWork =
  (options: ClusterOptions): Work =>
  async (item, context) => {
    try {
      return item.action === 'DELETE' ? await remove(item, context, options) : await create(item, context, options)
    } catch (error) {
      if (context.signal.aborted) return { phase: 'ABORTED' }
      const known = deployErrorOf(error)
      if (!known) throw error
      return { phase: 'FAILED', error: { code: known.code, message: known.message } }
    }
  }

async function create(item: WorkItem, context: WorkContext, options: ClusterOptions): Promise<WorkOutcome> {
  const run = await openRun(item, context, { options, config: readConfig(item.config) })
  return { phase: 'SUCCEEDED', exports: await deploy(run) }
}

/** What the inventory names; where it is lost, what the manifests name. */
async function remove(item: WorkItem, context: WorkContext, options: ClusterOptions): Promise<WorkOutcome> {
  const config = configOrNone(item.config)
  const run = await openRun(item, context, { options, config })
  await removeAll(run, union(await placesOf(run), await run.inventory.read()))
  await run.inventory.remove()
  return { phase: 'GONE' }
}

const NONE: ManifestConfig = { manifests: [] }

/** A config that cannot be read was never applied. */
function configOrNone(config: unknown): ManifestConfig {
  try {
    return readConfig(config)
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

interface Opening {
  readonly options: ClusterOptions
  readonly config: ManifestConfig
}
async function openRun(item: WorkItem, context: WorkContext, { options, config }: Opening): Promise<Run> {
  const { config: kubeconfig, namespace } = await openCluster(options, item.target)
  const api = new KubernetesApi(kubeconfig, context.signal, ({ message }) =>
    context.report({ progress: { step: `The API server does not answer: ${message}` } }),
  )
  return {
    ...{ api, item: item.objectId, context, config },
    namespace: config.namespace ?? namespace,
    discovery: new Discovery(api, config.manifests),
    inventory: new Inventory(api, item.objectId, namespace),
  }
}
