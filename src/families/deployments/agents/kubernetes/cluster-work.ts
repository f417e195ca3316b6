import { isStatus, KubernetesApi, troubleOf } from '../../../../agents/kubernetes/api.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import type { DryRun, DryRunOutcome, Work, WorkContext, WorkItem, WorkOutcome } from '../../../../client/index.ts'
import { type Sandbox, SandboxBusy } from '../../../../sandbox/index.ts'
import { DeployError } from '../deploy-error.ts'
import { type ClusterOptions, openCluster } from './cluster.ts'
import { deploy } from './deploy.ts'
import { Discovery } from './discovery.ts'
import { planDeployment, planRemoval } from './dry-run.ts'
import { Inventory, union } from './inventory.ts'
import { placeAll, type Run, refOf } from './placed.ts'
import { settingsOf } from './policies.ts'
import type { ManifestConfig } from './read-config.ts'
import { deployErrorOf } from './refusals.ts'
import { removeItem } from './remove.ts'

/** The inputs of an item's manifests. */
export interface ManifestSource {
  readonly api: KubernetesApi
  /** The namespace of objects that name none, unless the config has another. */
  readonly namespace: string
  readonly context: WorkContext
  readonly sandbox: Sandbox
}
/** Makes manifests of an item's config. @throws DeployError */
export type ReadManifests = (item: WorkItem, source: ManifestSource) => Promise<ManifestConfig>

/** Applies the manifests of items to a cluster, and deletes them. */
export const clusterWork =
  (options: ClusterOptions, read: ReadManifests): Work =>
  async (item, context) => {
    let source: ManifestSource | undefined
    try {
      source = await openSource(item, context, options)
      return item.action === 'DELETE' ? await remove(item, source, read) : await create(item, source, read)
    } catch (error) {
      if (context.signal.aborted) return { phase: 'ABORTED' }
      const unaccepted = source && outcomeOfCredentials(error, item, source)
      if (unaccepted) return unaccepted
      const known = deployErrorOf(error)
      if (!known) throw error
      const { code, message } = known
      if (error instanceof SandboxBusy) return { phase: 'PROGRESSING', error: { code, message, retryable: true } }
      return { phase: 'FAILED', error: { code, message } }
    }
  }

/**
 * The API server does not take the credentials of the item's target. If it has taken them before, they were replaced meanwhile: the next
 * claim gets the new ones. Null: it is another problem.
 */
function outcomeOfCredentials(error: unknown, item: WorkItem, { api }: ManifestSource): WorkOutcome {
  const { target, targetCredentials, action } = item
  if (!targetCredentials || !isStatus(error, 401)) return null
  const message = `The API server does not take the credentials of the target ${target} (generation ${targetCredentials.generation}).`
  const refused = { code: 'KUBERNETES_CREDENTIALS', message }
  if (!api.hasServed) return { phase: action === 'DELETE' ? 'DELETE_FAILED' : 'FAILED', error: refused }
  return { phase: action === 'DELETE' ? 'DELETING' : 'PROGRESSING', error: { ...refused, retryable: true } }
}

/** Says what `clusterWork` would change, and changes nothing. */
export const clusterDryRun =
  (options: ClusterOptions, read: ReadManifests): DryRun =>
  async (item, { signal, lost }) => {
    try {
      const context = { signal, lost, report: () => {}, log: () => {} }
      return await foreseeItem(item, await openSource(item, context, options), read)
    } catch (error) {
      if (signal.aborted) return null
      const known = deployErrorOf(error)
      if (!known) throw error
      return { error: { code: known.code, message: known.message } }
    }
  }

async function foreseeItem(item: WorkItem, source: ManifestSource, read: ReadManifests): Promise<DryRunOutcome> {
  if (item.dryRunOf === 'DELETE')
    return { changes: await planRemoval(runOf(item, source, await manifestsOrNone(item, source, read))) }
  const config = await read(item, source)
  if (config.dryRun) return { skipped: 'Its config has `dryRun`, so the run itself changes nothing.' }
  return { changes: await planDeployment(runOf(item, source, { ...config, dryRun: true })) }
}

async function create(item: WorkItem, source: ManifestSource, read: ReadManifests): Promise<WorkOutcome> {
  return { phase: 'SUCCEEDED', exports: await deploy(runOf(item, source, await read(item, source))) }
}

/** Removes the objects of the inventory; if that is lost, those of the manifests. */
async function remove(item: WorkItem, source: ManifestSource, read: ReadManifests): Promise<WorkOutcome> {
  const run = runOf(item, source, await manifestsOrNone(item, source, read))
  await removeItem(run, union((await placeAll(run)).map(refOf), await run.inventory.read()))
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

async function openSource(item: WorkItem, context: WorkContext, options: ClusterOptions): Promise<ManifestSource> {
  const { config, namespace } = await openCluster(options, item)
  // A request that is repeated does not hide the step that it is for: a timeout at that moment names both.
  let step = 'Looking at the cluster'
  const report = (given: Parameters<WorkContext['report']>[0]): void => {
    step = given.progress?.step ?? step
    context.report(given)
  }
  const onRetry = (error: Error, path: string): void =>
    context.report({ progress: { step: `${step}; asking again for ${path}: ${troubleOf(error)}` } })
  const onAnswer = (): void => context.report({ progress: { step } })
  const api = new KubernetesApi(config, context.signal, onRetry, onAnswer)
  return { api, namespace, context: { ...context, report }, sandbox: options.sandbox }
}

function runOf({ objectId: item, jobId }: WorkItem, source: ManifestSource, config: ManifestConfig): Run {
  const { api } = source
  const namespace = config.namespace ?? source.namespace
  const isIgnored = (one: KubernetesObject): boolean => settingsOf(config, one, namespace).policy === 'ignore'
  const ignored = config.manifests.filter(isIgnored)
  const manifests = config.manifests.filter((one) => !ignored.includes(one))
  return {
    ...{ ...source, item, job: jobId ?? '', config: { ...config, manifests }, ignored, namespace },
    discovery: new Discovery(api, manifests),
    inventory: new Inventory(api, item, source.namespace),
  }
}
