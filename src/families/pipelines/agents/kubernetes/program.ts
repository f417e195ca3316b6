import { hostname } from 'node:os'
import { UsageError } from '../../../../agents/arguments.ts'
import { readCloneOptions } from '../../../../agents/git/clone-options.ts'
import { namespaceOf, ownKubeconfig } from '../../../../agents/kubernetes/kubeconfig.ts'
import type { AgentProgram } from '../../../../agents/program.ts'
import { runRuntime } from '../runtime/run-runtime.ts'
import { openKubernetesRuntime } from './kubernetes-runtime.ts'
import { isLabelValue } from './names.ts'
import { loadSettings } from './settings.ts'

/**
 * The runtime that runs workers and jobs as pods of a cluster: the one that KUBECONFIG names, or the one that it runs in.
 * `--instance` names the place, and is the same for all its replicas. `--namespace` is where the pods are; `--pods` is a YAML
 * file with the settings of pods; `--workload-url` is the API's URL as pods reach it; `--clone-image` clones repositories, and
 * `--artifact-image` hands artifacts over. `--replica` names this process, by
 * default after its host.
 */
export const kubernetes: AgentProgram = async (context) => {
  const { url, instance, graceMs, options } = context
  const { namespace, replica = hostname(), pods, 'workload-url': workloadUrl = url } = options
  if (instance === undefined || !isLabelValue(instance))
    throw new UsageError(
      'This agent needs --instance: a name of its place of at most 63 letters, digits, ".", "_" and "-".',
    )
  if (!isLabelValue(replica)) throw new UsageError('--replica must have at most 63 letters, digits, ".", "_" and "-".')
  const config = ownKubeconfig()
  await using runtime = openKubernetesRuntime({
    ...{ config, instance, replica, url: workloadUrl, graceMs },
    namespace: namespace ?? namespaceOf(config),
    settings: await loadSettings(pods),
    clone: readCloneOptions(options, ['*']),
    cloneImage: options['clone-image'] ?? null,
    artifactImage: options['artifact-image'] ?? null,
    onProblem: (error) => context.onProblem('kubernetes', { what: 'work', error }),
  })
  await runRuntime(context, { type: 'kubernetes', runtime })
}
