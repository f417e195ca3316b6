import { Socket } from 'node:net'
import { delimiter } from 'node:path'
import { parseArgs } from 'node:util'
import { v7 as uuid } from 'uuid'
import type { GroupState } from '../client/gadget/run-gadget.ts'
import { type AgentProblem, type Client, type CrmError, createClient, runAgent, type Work } from '../client/index.ts'
import { readBehaviour } from './crm/behaviour.ts'
import { runSimulatedCrm } from './crm/simulated-crm.ts'
import { LIFELINE } from './crm/successor.ts'
import { gadgetWork } from './gadget/gadget-work.ts'
import { groupGuard } from './gadget/group-guard.ts'
import { jobWork } from './gadget/job-work.ts'
import { mockWork } from './mock.ts'
import { openProcessRuntime } from './process/process-runtime.ts'
import { readToken } from './read-token.ts'
import { runRuntime } from './runtime/run-runtime.ts'

/**
 * An agent process: `node src/agents/main.ts --types mock,gadget --url http://127.0.0.1:4000/graphql`.
 * The token comes from `--token-file <file>`, `-` for standard input, otherwise from PHASELINE_TOKEN, which everything that
 * it starts can read; the gadgets' folders from PHASELINE_GADGETS. Two types need a token of their own kind, so each gets a process of its own: `gadget-job`, the jobs
 * of tasks, and `process`, a runtime of workers and jobs, which needs `--state <folder>` too; `--grace-ms` is how long
 * its workloads have to end politely; `--lease-ms`, how soon another agent takes over what this one had when it is gone. So does `crm`, a simulated CRM, which needs `--cloudlet <id or name>` and `--state
 * <folder>`; `--crm-version` is that of a new state folder, PHASELINE_CRM is JSON that says how it behaves (see
 * crm/behaviour.ts), and `--role CRM_V2` is for the CRM that an upgrade starts. The agent ends on SIGINT and SIGTERM, and when the process that started it is gone.
 * Gadgets end with it; workloads go on, and the next runtime with the same folder adopts them.
 */
type BuiltIn = (common: Common) => Promise<void>
interface Common {
  readonly client: Client
  /** Names this process. */
  readonly name: string
  readonly url: string
  readonly targets: readonly string[] | undefined
  /** As far as it was asked for. */
  readonly concurrency: number | undefined
  /** Of the process runtime. */
  readonly state: string | undefined
  readonly graceMs: number | undefined
  /** How long what it has in hand stays its own when nothing is heard of it; not of CRMs. */
  readonly leaseMs: number | undefined
  readonly crm: CrmArguments
  readonly token: string
  readonly signal: AbortSignal
}

interface CrmArguments {
  readonly cloudlet: string
  readonly role: 'CRM' | 'CRM_V2'
  readonly version: string
}

/** Short, so that an abort is heard of soon. */
const RENEW_MS = 2_000
/** A deployer that died is replaced after so long. */
const LEASE_MS = 15_000
const DRAIN_MS = 3_000
const GRACE_MS = 5_000
/** A cloudlet counts as offline so long after its CRM was last heard of, when it did not say that it ends. */
const CRM_LEASE_MS = 10_000
/** Work that does not stop when asked to must not keep the process. */
const EXIT_MS = 15_000

const EXIT_USAGE = 2
const EXIT_FAILED = 1
/** As a shell says of a process that was killed. */
const EXIT_CRASHED = 137

/** Only mock and gadget are started unless others are asked for. */
const DEFAULT_TYPES = 'mock,gadget'

function builtIns(env: NodeJS.ProcessEnv): Readonly<Record<string, BuiltIn>> {
  const folders = (env.PHASELINE_GADGETS ?? '').split(delimiter).filter((folder) => folder !== '')
  const guard = groupGuard()
  const onGroup = (group: number, state: GroupState): void => {
    guard.tell(group, state)
    tellGroup(group, state)
  }
  const gadgets = { folders, env: { ...env }, graceMs: GRACE_MS, onGroup, onCall: guard.announce }
  return {
    mock: deployer('mock', 4_000, mockWork({ crash: () => process.exit(EXIT_FAILED) })),
    gadget: deployer('gadget', 8, gadgetWork(gadgets)),
    'gadget-job': deployer('gadget-job', 32, jobWork(gadgets)),
    process: (common) => runtime('process', common, env),
    crm: (common) => crm(common, env),
  }
}

const deployer =
  (type: string, most: number, work: Work): BuiltIn =>
  ({ client, name, targets, concurrency, leaseMs = LEASE_MS, signal }) =>
    runAgent({
      client,
      instance: `${type}-${name}`,
      types: [type],
      targets,
      concurrency: concurrency ?? most,
      leaseMs,
      renewMs: RENEW_MS,
      drainMs: DRAIN_MS,
      signal,
      work,
      onProblem: (problem) => tellProblem(type, problem),
    })

async function runtime(type: string, common: Common, env: NodeJS.ProcessEnv): Promise<void> {
  const { client, url, concurrency, state = '', graceMs, leaseMs = LEASE_MS, signal } = common
  await using place = await openProcessRuntime({ state, url, graceMs, env: { ...env } })
  const onProblem = (problem: AgentProblem): void => tellProblem(type, problem)
  await runRuntime({ client, type, runtime: place, concurrency, leaseMs, signal, onProblem })
}

async function crm(common: Common, env: NodeJS.ProcessEnv): Promise<void> {
  const { client, name, state = '', crm: given, token, url, signal } = common
  const main = process.argv[1] ?? ''
  const again = ['--types', 'crm', '--url', url, '--state', state, '--cloudlet', given.cloudlet]
  await runSimulatedCrm({
    ...given,
    client,
    state,
    instance: `crm-${name}`,
    behaviour: readBehaviour(env.PHASELINE_CRM),
    leaseMs: CRM_LEASE_MS,
    successor: { args: [main, ...again], env, token },
    crash: () => process.exit(EXIT_CRASHED),
    signal,
    tell,
    onProblem: (problem) => tellProblem('crm', problem),
  })
}

/** To whoever supervises this process, and ends what is left when it is killed. */
function tellGroup(group: number, state: GroupState): void {
  if (process.connected) process.send?.({ group, state })
}

function tell(event: string, details: Readonly<Record<string, unknown>>): void {
  process.stderr.write(`${JSON.stringify({ event, ...details })}\n`)
}

function tellProblem(type: string, { what, error, objectId }: AgentProblem | CrmError): void {
  tell('agent problem', { type, what, message: error.message, ...(objectId === undefined ? {} : { objectId }) })
}

function endSignal(): AbortSignal {
  const end = new AbortController()
  const stop = (): void => {
    if (end.signal.aborted) return
    end.abort()
    setTimeout(() => process.exit(EXIT_FAILED), EXIT_MS).unref()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  // With a channel the process was started by `startAgentProcess`, and lives no longer than its starter.
  process.once('disconnect', stop)
  // A CRM that was started by another one has no channel, but what that one was given.
  const lifeline = Number(process.env[LIFELINE])
  if (lifeline > 0) new Socket({ fd: lifeline }).once('close', stop).resume().unref()
  return end.signal
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      types: { type: 'string' },
      url: { type: 'string', default: 'http://127.0.0.1:4000/graphql' },
      targets: { type: 'string' },
      concurrency: { type: 'string' },
      instance: { type: 'string' },
      state: { type: 'string' },
      'grace-ms': { type: 'string' },
      'lease-ms': { type: 'string' },
      cloudlet: { type: 'string', default: '' },
      role: { type: 'string', default: 'CRM' },
      'crm-version': { type: 'string', default: '1.0.0' },
      'token-file': { type: 'string' },
    },
  })
  const known = builtIns(process.env)
  const types = (values.types ?? DEFAULT_TYPES).split(',')
  const unknown = types.filter((type) => !Object.hasOwn(known, type))
  // Its starter may end at any time from now on.
  const end = endSignal()
  const tokenFile = values['token-file']
  const token = tokenFile === undefined ? process.env.PHASELINE_TOKEN : await readToken(tokenFile)
  // Whatever this process starts shall not be handed it.
  delete process.env.PHASELINE_TOKEN
  const limit = wholeNumber(values.concurrency)
  const graceMs = wholeNumber(values['grace-ms'])
  const leaseMs = wholeNumber(values['lease-ms'])
  const problem = usageProblem({
    unknown,
    token,
    limit,
    graceMs,
    leaseMs,
    stateMissing: types.some((type) => type === 'process' || type === 'crm') && !values.state,
    cloudletMissing: types.includes('crm') && !values.cloudlet,
    role: values.role,
  })
  if (problem || !token) {
    tell('usage', { message: problem })
    return EXIT_USAGE
  }
  const failed = new AbortController()
  const signal = AbortSignal.any([end, failed.signal])
  const { url, state } = values
  await using client = createClient({ url, token })
  const name = values.instance ?? `${process.pid}-${uuid().slice(-12)}`
  const common: Common = {
    client,
    name,
    url,
    targets: values.targets?.split(','),
    concurrency: limit,
    state,
    graceMs,
    leaseMs,
    token,
    crm: {
      cloudlet: values.cloudlet,
      role: values.role === 'CRM_V2' ? 'CRM_V2' : 'CRM',
      version: values['crm-version'],
    },
    signal,
  }
  const agents = types.map((type) => (known[type] as BuiltIn)(common).finally(() => failed.abort()))
  // One that cannot go on ends them all: whoever supervises the process sees why.
  const ends = await Promise.allSettled(agents)
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return 0
}

/** NaN: it is none, or not positive. */
function wholeNumber(text: string | undefined): number | undefined {
  const number = Number(text)
  return text === undefined ? undefined : Number.isInteger(number) && number > 0 ? number : Number.NaN
}

interface Usage {
  readonly unknown: readonly string[]
  readonly token: string | null | undefined
  readonly limit: number | undefined
  readonly graceMs: number | undefined
  readonly leaseMs: number | undefined
  readonly stateMissing: boolean
  readonly cloudletMissing: boolean
  readonly role: string
}
function usageProblem({
  unknown,
  token,
  limit,
  graceMs,
  leaseMs,
  stateMissing,
  cloudletMissing,
  role,
}: Usage): string | null {
  if (unknown.length > 0) return `There is no built-in agent for ${unknown.join(', ')}.`
  if (!token) return '--token-file must hold the agent’s token, or PHASELINE_TOKEN.'
  if (stateMissing) return 'This agent needs --state: the folder that it keeps what it makes in.'
  if (cloudletMissing) return 'The CRM needs --cloudlet: the id or the name of the cloudlet that it serves.'
  if (role !== 'CRM' && role !== 'CRM_V2') return '--role must be CRM or CRM_V2.'
  if (Number.isNaN(limit)) return '--concurrency must be a positive whole number.'
  if (Number.isNaN(leaseMs)) return '--lease-ms must be a positive whole number.'
  return Number.isNaN(graceMs) ? '--grace-ms must be a positive whole number.' : null
}

// Who supervised this process may be gone, while it still has to end in order.
process.stderr.on('error', () => {})
try {
  process.exitCode = await main()
} catch (error) {
  tell('agent ended', { message: error instanceof Error ? error.message : String(error) })
  process.exitCode = EXIT_FAILED
}
// An open channel would keep the process although there is nothing left to do.
if (process.connected) process.disconnect()
