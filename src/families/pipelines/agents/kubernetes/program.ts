import { hostname } from 'node:os'
import { KubeConfig } from '@kubernetes/client-node'
import { UsageError } from '../../../../agents/arguments.ts'
import { LEASE_MS } from '../../../../agents/claim-work.ts'
import type { AgentProgram } from '../../../../agents/program.ts'
import { runRuntime } from '../runtime/run-runtime.ts'
import { openKubernetesRuntime } from './kubernetes-runtime.ts'
import { isLabelValue } from './names.ts'
import { loadSettings } from './settings.ts'

/**
 * The runtime that runs workers and jobs as pods of a cluster: the one that KUBECONFIG names, or the one that it runs in.
 * `--instance` names the place, and is the same for all its replicas. `--namespace` is where the pods are; `--pods` is a YAML
 * file with the settings of pods; `--workload-url` is the API's URL as pods reach it. `--replica` names this process, by
 * default after its host.
 */
export const kubernetes: AgentProgram = async (context) => {
  const { client, url, instance, concurrency, graceMs, labels, capacity, leaseMs = LEASE_MS, options, signal } = context
  const { namespace, replica = hostname(), pods, 'workload-url': workloadUrl = url } = options
  if (instance === undefined || !isLabelValue(instance))
    throw new UsageError(
      'This agent needs --instance: a name of its place of at most 63 letters, digits, ".", "_" and "-".',
    )
  if (!isLabelValue(replica)) throw new UsageError('--replica must have at most 63 letters, digits, ".", "_" and "-".')
  const config = new KubeConfig()
  config.loadFromDefault()
  if (!config.getCurrentCluster()) throw new UsageError('No cluster is known: set KUBECONFIG, or run in a pod.')
  await using runtime = openKubernetesRuntime({
    ...{ config, instance, replica, url: workloadUrl, graceMs },
    namespace: namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    settings: await loadSettings(pods),
    onProblem: (error) => context.onProblem('kubernetes', { what: 'work', error }),
  })
  await runRuntime({
    client,
    type: 'kubernetes',
    runtime,
    place: { labels, capacity },
    concurrency,
    leaseMs,
    signal,
    onProblem: (problem) => context.onProblem('kubernetes', problem),
  })
}
