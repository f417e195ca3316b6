import { claimWork } from '../../../../agents/claim-work.ts'
import type { AgentProgram } from '../../../../agents/program.ts'
import { KUBERNETES_MANIFEST } from '../../../../core/deployers/kubernetes-manifest.ts'
import { manifestWork } from './manifest-work.ts'

/**
 * The deployer of `kubernetes-manifest` items: on the cluster that KUBECONFIG names, or that it runs in; with
 * `--kubeconfigs <folder>` also on those of the items' targets, whose kubeconfigs are the files there. `--namespace` is where
 * its inventories are, and objects that name none.
 */
export const kubernetesManifest: AgentProgram = (context) => {
  const { kubeconfigs, namespace } = context.options
  const work = manifestWork({ kubeconfigs, namespace, targets: context.targets })
  return claimWork(context, { type: KUBERNETES_MANIFEST, concurrency: 8, work })
}
