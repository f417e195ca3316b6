import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { ownKubeconfig, readKubeconfig } from '../../../../agents/kubernetes/kubeconfig.ts'
import { CrmProblem } from '../../../../client/index.ts'

export interface ClusterOptions {
  /** The context of KUBECONFIG; its current one by default. */
  readonly context?: string | undefined
  /** A folder with the kubeconfigs of further clusters, each named as specs name it. */
  readonly kubeconfigs?: string | undefined
}
export interface OpenOptions {
  readonly signal: AbortSignal
  /** Called with what makes a request be repeated. */
  onRetry(error: Error): void
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** The clusters of one cloudlet. Kubeconfigs are read each time, so that credentials may be replaced at any time. */
export class Clusters {
  readonly #options: ClusterOptions

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  /** The CRM's own. @throws UsageError */
  own({ signal, onRetry }: OpenOptions): KubernetesApi {
    return new KubernetesApi(ownKubeconfig(this.#options.context), signal, onRetry)
  }

  /** @throws CrmProblem when there is none of that name */
  async named(name: string, { signal, onRetry }: OpenOptions): Promise<KubernetesApi> {
    if (!(await this.#names()).includes(name))
      throw new CrmProblem(`spec.cluster: the CRM has no kubeconfig of the name ${name}.`, 'CLUSTER_UNKNOWN')
    const config = readKubeconfig(join(this.#options.kubeconfigs ?? '', name))
    if (!config) throw new CrmProblem(`The kubeconfig ${name} of the CRM cannot be read.`, 'CLUSTER_UNKNOWN')
    return new KubernetesApi(config, signal, onRetry)
  }

  /** The own one is first, and has no name. */
  async all(options: OpenOptions): Promise<readonly { readonly name: string | null; readonly api: KubernetesApi }[]> {
    const own = { name: null, api: this.own(options) }
    const others = await Promise.all(
      (await this.#names()).map(async (name) => ({ name, api: await this.named(name, options) })),
    )
    return [own, ...others]
  }

  async #names(): Promise<readonly string[]> {
    const { kubeconfigs } = this.#options
    if (kubeconfigs === undefined) return []
    const entries = await readdir(kubeconfigs)
    return entries.filter((name) => NAME.test(name)).toSorted()
  }
}
