import { randomUUID } from 'node:crypto'
import { UsageError } from '../../../../agents/arguments.ts'
import { logEvent } from '../../../../agents/log-event.ts'
import type { AgentContext, AgentProgram } from '../../../../agents/program.ts'
import { CrmProblem, runCrm } from '../../../../client/index.ts'
import { findCloudlet } from '../find-cloudlet.ts'
import { Clusters } from './clusters.ts'
import { kubernetesDriver } from './kubernetes-driver.ts'
import type { PodSecurity } from './plan-cluster.ts'

const TYPE = 'kubernetes-crm'
/** A cloudlet counts as offline so long after the last message of a CRM that did not end in order. */
const LEASE_MS = 15_000

/** A cloudlet that is served, and the context of its cluster. */
interface Served {
  readonly cloudlet: string
  readonly context: string | undefined
}

/**
 * The CRM of cloudlets whose instances are objects of Kubernetes. `--cloudlets` names them, each with `=CONTEXT` for another
 * context of KUBECONFIG than the current one; `--kubeconfigs <folder>` has the clusters that specs may name.
 */
export const kubernetesCrm: AgentProgram = async (context) => {
  const { cloudlets = '', 'pod-security': podSecurity = 'restricted' } = context.options
  const served = cloudlets.split(',').filter(Boolean).map(readServed)
  if (served.length === 0)
    throw new UsageError(
      'This agent needs --cloudlets: ids or names of the cloudlets that it serves, with commas between.',
    )
  if (podSecurity !== 'restricted' && podSecurity !== 'baseline')
    throw new UsageError('--pod-security must be restricted or baseline.')
  lookMs(context.options['look-seconds'])
  context.onReady(TYPE)
  const failed = new AbortController()
  const signal = AbortSignal.any([context.signal, failed.signal])
  const ends = served.map(async (one) => {
    try {
      await serve(one, { ...context, signal }, podSecurity)
    } catch (error) {
      failed.abort()
      throw error
    }
  })
  for (const ended of await Promise.allSettled(ends)) if (ended.status === 'rejected') throw ended.reason
}

/** @throws UsageError */
function lookMs(text = '60'): number {
  const seconds = Number(text)
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400) return seconds * 1_000
  throw new UsageError('--look-seconds must be a whole number from 1 to 86400.')
}

function readServed(text: string): Served {
  const [cloudlet = '', ...rest] = text.split('=')
  return { cloudlet, context: rest.length > 0 ? rest.join('=') : undefined }
}

async function serve(served: Served, agent: AgentContext, podSecurity: PodSecurity): Promise<void> {
  const { client, name, options, leaseMs = LEASE_MS, signal } = agent
  const clusters = new Clusters({ context: served.context, kubeconfigs: options.kubeconfigs })
  const onRetry = (error: Error): void => agent.onProblem(TYPE, { what: 'list', error })
  // A missing context is reported before any request.
  clusters.own({ signal, onRetry })
  const cloudlet = await findCloudlet(client, served.cloudlet, signal)
  if (!cloudlet) return
  logEvent('crm serves', { cloudlet: cloudlet.name, pid: process.pid })
  const end = await runCrm({
    client,
    cloudletId: cloudlet.id,
    // Never that of an earlier process, whatever --instance is: the server would take it for the same.
    instance: `${TYPE}-${name}-${randomUUID().slice(-12)}`,
    version: options['crm-version'] ?? '1.0.0',
    leaseMs,
    lookMs: lookMs(options['look-seconds']),
    driver: kubernetesDriver({ cloudlet, clusters, podSecurity }, { signal, onRetry }),
    onUpgrade: () => {
      throw new CrmProblem(
        'This CRM is upgraded where it runs: resolve this upgrade, then replace its process by one of the new version, which takes the cloudlet over.',
        'UPGRADE_FAILED',
      )
    },
    signal,
    onProblem: (problem) => agent.onProblem(TYPE, problem),
  })
  logEvent('crm ended', { cloudlet: cloudlet.name, pid: process.pid, end })
}
