import { KubeConfig } from '@kubernetes/client-node'
import { UsageError } from '../arguments.ts'

/** The agent's own cluster: of a context of KUBECONFIG, or the one that it runs in. @throws UsageError */
export function ownKubeconfig(context?: string): KubeConfig {
  const config = new KubeConfig()
  config.loadFromDefault()
  if (context !== undefined) {
    if (!config.getContextObject(context)) throw new UsageError(`KUBECONFIG has no context ${context}.`)
    config.setCurrentContext(context)
  }
  if (!config.getCurrentCluster()) throw new UsageError('No cluster is known: set KUBECONFIG, or run in a pod.')
  return config
}

/**
 * Reads one for each use, so that credentials may be replaced at any time. Null: it cannot be read; the error is dropped, since
 * it may quote credentials. @param file null: the agent's own
 */
export function readKubeconfig(file: string | null): KubeConfig | null {
  const config = new KubeConfig()
  try {
    if (file === null) config.loadFromDefault()
    else config.loadFromFile(file)
    return config
  } catch {
    return null
  }
}

/** The client's own guess where nothing names a cluster. */
const GUESS = 'http://localhost:8080'
/** False: nothing names a cluster. */
export function namesCluster(config: KubeConfig): boolean {
  const cluster = config.getCurrentCluster()
  return cluster !== null && cluster.server !== GUESS
}

/** The namespace of the current context. */
export const namespaceOf = (config: KubeConfig): string =>
  config.getContextObject(config.getCurrentContext())?.namespace ?? 'default'
