import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { DeployError } from '../deploy-error.ts'

/** The deployer's access to the clusters of its items. */
export interface ClusterOptions {
  /** A folder with a kubeconfig for each target, named after it. */
  readonly kubeconfigs?: string | undefined
  /** The targets that the deployer is for. */
  readonly targets?: readonly string[] | undefined
  /** The namespace of inventories, and of objects that name none. By default the one of the kubeconfig. */
  readonly namespace?: string | undefined
}
export interface ClusterAccess {
  readonly config: KubeConfig
  readonly namespace: string
}

const CODE = 'KUBERNETES_TARGET'

/** Read for each item, so that credentials may be replaced at any time. @throws DeployError */
export async function openCluster(options: ClusterOptions, target: string | null): Promise<ClusterAccess> {
  const config = new KubeConfig()
  const file = await kubeconfigOf(options, target)
  try {
    if (file === null) config.loadFromDefault()
    else config.loadFromFile(file)
  } catch {
    // Its message may quote credentials.
    throw new DeployError(CODE, `The kubeconfig of ${target ?? 'the deployer'} cannot be read.`)
  }
  if (!config.getCurrentCluster())
    throw new DeployError(CODE, 'The deployer knows no cluster: it needs KUBECONFIG, --kubeconfigs, or to run in one.')
  const own = config.getContextObject(config.getCurrentContext())?.namespace
  return { config, namespace: options.namespace ?? own ?? 'default' }
}

/** Null: the deployer's own. */
async function kubeconfigOf({ kubeconfigs, targets }: ClusterOptions, target: string | null): Promise<string | null> {
  if (target === null || (kubeconfigs === undefined && targets?.includes(target))) return null
  const isName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(target)
  const file = kubeconfigs === undefined || !isName ? null : join(kubeconfigs, target)
  if (file !== null && (await stat(file).catch(() => null))?.isFile()) return file
  const remedy = 'start the deployer with --targets, or with --kubeconfigs, a folder with a kubeconfig of that name'
  throw new DeployError(CODE, `The deployer knows no cluster for the target ${target}: ${remedy}.`)
}
