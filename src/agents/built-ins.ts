import { delimiter } from 'node:path'
import type { GroupState } from '../client/gadget/run-gadget.ts'
import { type Client, runAgent, type Work } from '../client/index.ts'
import type { AgentArguments } from './arguments.ts'
import { readBehaviour } from './crm/behaviour.ts'
import { runSimulatedCrm } from './crm/simulated-crm.ts'
import { gadgetWork } from './gadget/gadget-work.ts'
import { groupGuard } from './gadget/group-guard.ts'
import { jobWork } from './gadget/job-work.ts'
import { logEvent, logProblem } from './log-event.ts'
import { mockWork } from './mock.ts'
import { openProcessRuntime } from './process/process-runtime.ts'
import { runRuntime } from './runtime/run-runtime.ts'

export interface AgentContext extends AgentArguments {
  readonly client: Client
  readonly token: string
  /** Names this process. */
  readonly name: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}
type BuiltIn = (context: AgentContext) => Promise<void>

/** Short, so that an abort request is noticed soon. */
const RENEW_MS = 2_000
/** After so long another agent takes over the work of one that died. */
const LEASE_MS = 15_000
const DRAIN_MS = 3_000
const GRACE_MS = 5_000
/** A cloudlet counts as offline so long after the last message of a CRM that did not end in order. */
const CRM_LEASE_MS = 10_000
const EXIT_FAILED = 1
/** The code that a shell shows for a killed process. */
const EXIT_CRASHED = 137

/** The built-in agents, by the type of work that they claim. */
export const BUILT_INS: Readonly<Record<string, BuiltIn>> = {
  mock: (context) => deploy(context, 'mock', 4_000, mockWork({ crash: () => process.exit(EXIT_FAILED) })),
  gadget: (context) => deploy(context, 'gadget', 8, gadgetWork(gadgetOptions(context))),
  'gadget-job': (context) => deploy(context, 'gadget-job', 32, jobWork(gadgetOptions(context))),
  process: runProcesses,
  crm: runCrmSimulation,
}

function deploy(context: AgentContext, type: string, maxConcurrency: number, work: Work): Promise<void> {
  const { client, name, targets, concurrency = maxConcurrency, leaseMs = LEASE_MS, signal } = context
  return runAgent({
    client,
    instance: `${type}-${name}`,
    types: [type],
    targets,
    concurrency,
    leaseMs,
    renewMs: RENEW_MS,
    drainMs: DRAIN_MS,
    signal,
    work,
    onProblem: (problem) => logProblem(type, problem),
  })
}

function gadgetOptions({ env }: AgentContext) {
  const folders = (env.PHASELINE_GADGETS ?? '').split(delimiter).filter((folder) => folder !== '')
  const guard = groupGuard()
  const onGroup = (group: number, state: GroupState): void => {
    guard.onGroup(group, state)
    sendToSupervisor(group, state)
  }
  return { folders, env: { ...env }, graceMs: GRACE_MS, onGroup, onCall: guard.onCall }
}

/** The supervisor kills the groups that are left when this process is killed. */
function sendToSupervisor(group: number, state: GroupState): void {
  if (process.connected) process.send?.({ group, state })
}

async function runProcesses(context: AgentContext): Promise<void> {
  const { client, url, concurrency, state = '', graceMs, leaseMs = LEASE_MS, env, signal } = context
  await using runtime = await openProcessRuntime({ state, url, graceMs, env: { ...env } })
  await runRuntime({
    client,
    type: 'process',
    runtime,
    concurrency,
    leaseMs,
    signal,
    onProblem: (problem) => logProblem('process', problem),
  })
}

async function runCrmSimulation({
  client,
  name,
  state = '',
  crm,
  token,
  url,
  env,
  signal,
}: AgentContext): Promise<void> {
  const main = process.argv[1] ?? ''
  const successorArgs = ['--types', 'crm', '--url', url, '--state', state, '--cloudlet', crm.cloudlet]
  await runSimulatedCrm({
    ...crm,
    client,
    state,
    instance: `crm-${name}`,
    behaviour: readBehaviour(env.PHASELINE_CRM),
    leaseMs: CRM_LEASE_MS,
    successor: { args: [main, ...successorArgs], env, token },
    crash: () => process.exit(EXIT_CRASHED),
    signal,
    onEvent: logEvent,
    onProblem: (problem) => logProblem('crm', problem),
  })
}
