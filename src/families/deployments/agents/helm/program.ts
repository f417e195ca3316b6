import { UsageError } from '../../../../agents/arguments.ts'
import { claimWork } from '../../../../agents/claim-work.ts'
import type { AgentProgram } from '../../../../agents/program.ts'
import { HELM } from '../../../../core/deployers/helm.ts'
import { createSandbox } from '../../../../sandbox/index.ts'
import { DeployError } from '../deploy-error.ts'
import { claimedTargets } from '../kubernetes/cluster.ts'
import { type Helm, MAX_BYTES, runHelm, TIMEOUT_MS } from './helm.ts'
import { helmDryRun, helmWork } from './helm-work.ts'

/** The deployer of `helm` items. `docs/helm.md` has its options. */
export const helmCharts: AgentProgram = async (context) => {
  const { kubeconfigs, namespace, charts: folder, repositories, registries, helm: program = 'helm' } = context.options
  const helm = { program, env: context.env, registries, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }
  await requireHelm(helm, context.signal)
  const charts = { folder, repositories: repositories?.split(',').filter((one) => one !== '') ?? [] }
  await using sandbox = createSandbox()
  const options = { kubeconfigs, namespace, targets: context.targets, sandbox }
  const own = { ...options, helm, charts }
  const claiming = { ...context, targets: claimedTargets({ ...options, targetSelector: context.targetSelector }) }
  return await claimWork(claiming, {
    type: HELM,
    concurrency: 4,
    work: helmWork(own),
    dryRun: helmDryRun(own),
    usesCredentials: true,
  })
}

/** @throws UsageError */
async function requireHelm(helm: Helm, signal: AbortSignal): Promise<void> {
  const version = await runHelm(helm, { args: ['version', '--short'], input: '', signal }).catch((error: unknown) => {
    if (!(error instanceof DeployError)) throw error
    throw new UsageError(`This agent needs the program helm, in PATH or named by --helm. ${error.message}`)
  })
  if (!/^v[34]\./.test(version.stdout))
    throw new UsageError(`This agent needs helm 3 or 4; ${helm.program} says ${version.stdout.trim().slice(0, 100)}.`)
}
