import { delimiter } from 'node:path'
import { parseArgs } from 'node:util'
import { v7 as uuid } from 'uuid'
import type { GroupState } from '../client/gadget/run-gadget.ts'
import { type AgentProblem, type Client, createClient, runAgent, type Work } from '../client/index.ts'
import { gadgetWork } from './gadget/gadget-work.ts'
import { groupGuard } from './gadget/group-guard.ts'
import { jobWork } from './gadget/job-work.ts'
import { mockWork } from './mock.ts'
import { openProcessRuntime } from './process/process-runtime.ts'
import { runRuntime } from './runtime/run-runtime.ts'

/**
 * An agent process: `node src/agents/main.ts --types mock,gadget --url http://127.0.0.1:4000/graphql`.
 * The token comes from PHASELINE_TOKEN, since arguments are visible to everybody; the gadgets' folders from
 * PHASELINE_GADGETS. Two types need a token of their own kind, so each gets a process of its own: `gadget-job`, the jobs
 * of tasks, and `process`, a runtime of workers and jobs, which needs `--state <folder>` too; `--grace-ms` is how long
 * its workloads have to end politely. The agent ends on SIGINT and SIGTERM, and when the process that started it is gone.
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
  readonly signal: AbortSignal
}

/** Short, so that an abort is heard of soon. */
const RENEW_MS = 2_000
/** A deployer that died is replaced after so long. */
const LEASE_MS = 15_000
const DRAIN_MS = 3_000
const GRACE_MS = 5_000
/** Work that does not stop when asked to must not keep the process. */
const EXIT_MS = 15_000

const EXIT_USAGE = 2
const EXIT_FAILED = 1

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
  }
}

const deployer =
  (type: string, most: number, work: Work): BuiltIn =>
  ({ client, name, targets, concurrency, signal }) =>
    runAgent({
      client,
      instance: `${type}-${name}`,
      types: [type],
      targets,
      concurrency: concurrency ?? most,
      leaseMs: LEASE_MS,
      renewMs: RENEW_MS,
      drainMs: DRAIN_MS,
      signal,
      work,
      onProblem: (problem) => tellProblem(type, problem),
    })

async function runtime(type: string, common: Common, env: NodeJS.ProcessEnv): Promise<void> {
  const { client, url, concurrency, state = '', graceMs, signal } = common
  await using place = await openProcessRuntime({ state, url, graceMs, env: { ...env } })
  const onProblem = (problem: AgentProblem): void => tellProblem(type, problem)
  await runRuntime({ client, type, runtime: place, concurrency, leaseMs: LEASE_MS, signal, onProblem })
}

/** To whoever supervises this process, and ends what is left when it is killed. */
function tellGroup(group: number, state: GroupState): void {
  if (process.connected) process.send?.({ group, state })
}

function tell(event: string, details: Readonly<Record<string, unknown>>): void {
  process.stderr.write(`${JSON.stringify({ event, ...details })}\n`)
}

function tellProblem(type: string, { what, error, objectId }: AgentProblem): void {
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
    },
  })
  const known = builtIns(process.env)
  const types = (values.types ?? DEFAULT_TYPES).split(',')
  const unknown = types.filter((type) => !Object.hasOwn(known, type))
  const token = process.env.PHASELINE_TOKEN
  // Whatever this process starts shall not find it.
  delete process.env.PHASELINE_TOKEN
  const limit = wholeNumber(values.concurrency)
  const graceMs = wholeNumber(values['grace-ms'])
  const problem = usageProblem({
    unknown,
    token,
    limit,
    graceMs,
    stateMissing: types.includes('process') && !values.state,
  })
  if (problem || !token) {
    tell('usage', { message: problem })
    return EXIT_USAGE
  }
  const failed = new AbortController()
  const signal = AbortSignal.any([endSignal(), failed.signal])
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
  readonly token: string | undefined
  readonly limit: number | undefined
  readonly graceMs: number | undefined
  readonly stateMissing: boolean
}
function usageProblem({ unknown, token, limit, graceMs, stateMissing }: Usage): string | null {
  if (unknown.length > 0) return `There is no built-in agent for ${unknown.join(', ')}.`
  if (!token) return 'PHASELINE_TOKEN must hold the agent’s token.'
  if (stateMissing) return 'The process runtime needs --state: the folder that it keeps its workloads in.'
  if (Number.isNaN(limit)) return '--concurrency must be a positive whole number.'
  return Number.isNaN(graceMs) ? '--grace-ms must be a positive whole number.' : null
}

try {
  process.exitCode = await main()
} catch (error) {
  tell('agent ended', { message: error instanceof Error ? error.message : String(error) })
  process.exitCode = EXIT_FAILED
}
// An open channel would keep the process although there is nothing left to do.
if (process.connected) process.disconnect()
