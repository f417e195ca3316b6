import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import type { AgentArguments } from '../../../../agents/arguments.ts'
import { namesCluster, namespaceOf, readKubeconfig } from '../../../../agents/kubernetes/kubeconfig.ts'
import type { WorkItem } from '../../../../client/index.ts'
import { KUBERNETES_TARGET } from '../../../../core/target.ts'
import { readFlatKubeconfig } from '../../../../manifest/index.ts'
import type { Sandbox } from '../../../../sandbox/index.ts'
import { DeployError } from '../deploy-error.ts'

/** The deployer's access to the clusters of its items. */
export interface ClusterOptions {
  /** A folder with a kubeconfig for each target, named after it. */
  readonly kubeconfigs?: string | undefined
  /** The targets that the deployer is for. */
  readonly targets?: readonly string[] | undefined
  /** The namespace of inventories, and of objects that name none. By default the one of the kubeconfig. */
  readonly namespace?: string | undefined
  /** Evaluates the readiness rules of items. */
  readonly sandbox: Sandbox
}
export interface ClusterAccess {
  readonly config: KubeConfig
  readonly namespace: string
}

/**
 * The targets whose items a deployer claims by name. Without targets and kubeconfigs it claims only items without a target: of the
 * others it knows no cluster, and could only fail them. One that selects targets, and has no cluster of its own, leaves
 * those to others, too.
 */
export const claimedTargets = ({
  kubeconfigs,
  targets,
  targetSelector,
}: ClusterOptions & Pick<AgentArguments, 'targetSelector'>): readonly string[] | undefined => {
  if (kubeconfigs !== undefined || targets !== undefined) return targets
  const own = targetSelector && readKubeconfig(null)
  return targetSelector && !(own && namesCluster(own)) ? undefined : []
}

const CODE = 'KUBERNETES_TARGET'

type Placed = Pick<WorkItem, 'target' | 'targetCredentials'>

/** @throws DeployError */
export async function openCluster(options: ClusterOptions, item: Placed): Promise<ClusterAccess> {
  const config = kubeconfigOfTarget(item) ?? readKubeconfig(await kubeconfigOf(options, item.target))
  if (!config) throw new DeployError(CODE, `The kubeconfig of ${item.target ?? 'the deployer'} cannot be read.`)
  if (!namesCluster(config))
    throw new DeployError(CODE, 'The deployer knows no cluster: it needs KUBECONFIG, --kubeconfigs, or to run in one.')
  return { config, namespace: options.namespace ?? namespaceOf(config) }
}

/** That of a target of the project, in memory only. Null: there is no such target. @throws DeployError */
function kubeconfigOfTarget({ target, targetCredentials }: Placed): KubeConfig | null {
  if (!targetCredentials) return null
  const { targetType, secret } = targetCredentials
  // A file of the deployer that happens to have its name is of another target.
  if (targetType !== KUBERNETES_TARGET)
    throw new DeployError(CODE, `The target ${target} is of the type ${targetType}, not ${KUBERNETES_TARGET}.`)
  if (secret === null)
    throw new DeployError(CODE, `The target ${target} has no credentials, or none that the server can open.`)
  const read = readFlatKubeconfig(secret)
  if (!read.ok)
    throw new DeployError(
      CODE,
      `The target ${target} has no kubeconfig that is whole in itself: ${read.problems.join('; ')}.`,
    )
  const config = new KubeConfig()
  config.loadFromString(JSON.stringify(read.value))
  return config
}

/** Null: the deployer's own. */
async function kubeconfigOf({ kubeconfigs, targets }: ClusterOptions, target: string | null): Promise<string | null> {
  if (target === null || (kubeconfigs === undefined && targets?.includes(target))) return null
  const isName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(target)
  const file = kubeconfigs === undefined || !isName ? null : join(kubeconfigs, target)
  if (file !== null && (await stat(file).catch(() => null))?.isFile()) return file
  const remedy =
    'start the deployer with --targets, with --kubeconfigs, a folder with a kubeconfig of that name, or with --target-type kubernetes for targets of projects'
  throw new DeployError(CODE, `The deployer knows no cluster for the target ${target}: ${remedy}.`)
}
