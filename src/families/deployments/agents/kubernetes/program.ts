import { claimWork } from '../../../../agents/claim-work.ts'
import type { AgentProgram } from '../../../../agents/program.ts'
import type { DryRun, Work } from '../../../../client/index.ts'
import { KUBERNETES_MANIFEST } from '../../../../core/deployers/kubernetes-manifest.ts'
import { createSandbox } from '../../../../sandbox/index.ts'
import { type ClusterOptions, claimedTargets } from './cluster.ts'
import { clusterDryRun, clusterWork, type ReadManifests } from './cluster-work.ts'
import { readConfig } from './read-config.ts'
import { stageOf } from './stages.ts'

/** The `kubernetes-manifest` deployer: applies the objects of the config to a cluster, and deletes them. */
export const manifestWork = (options: ClusterOptions): Work => clusterWork(options, readManifests)
export const manifestDryRun = (options: ClusterOptions): DryRun => clusterDryRun(options, readManifests)

const readManifests: ReadManifests = async ({ config: given }, { context }) => {
  const { manifests, ...config } = readConfig(given)
  const applied = manifests.filter((manifest) => stageOf(manifest) !== null)
  for (const manifest of manifests)
    if (!applied.includes(manifest))
      context.log('SYSTEM', `${manifest.kind} ${manifest.metadata.name} is left out: its hook is for no application`)
  return { ...config, manifests: applied }
}

/**
 * The deployer of `kubernetes-manifest` items: on the cluster that KUBECONFIG names, or that it runs in; with
 * `--kubeconfigs <folder>` also on those of the items' targets, whose kubeconfigs are the files there, and with `--target-type`
 * or `--target-labels` on those of targets of projects, by their credentials. `--namespace` is where
 * its inventories are, and objects that name none.
 */
export const kubernetesManifest: AgentProgram = async (context) => {
  const { kubeconfigs, namespace } = context.options
  await using sandbox = createSandbox()
  const options = { kubeconfigs, namespace, targets: context.targets, sandbox }
  const claiming = { ...context, targets: claimedTargets({ ...options, targetSelector: context.targetSelector }) }
  return await claimWork(claiming, {
    type: KUBERNETES_MANIFEST,
    concurrency: 8,
    work: manifestWork(options),
    dryRun: manifestDryRun(options),
    usesCredentials: true,
  })
}
