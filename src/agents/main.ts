import { delimiter } from 'node:path'
import { parseArgs } from 'node:util'
import { v7 as uuid } from 'uuid'
import { type AgentProblem, createClient, runAgent, type Work } from '../client/index.ts'
import { gadgetWork } from './gadget/gadget-work.ts'
import type { GroupState } from './gadget/run-gadget.ts'
import { mockWork } from './mock.ts'

/**
 * An agent process: `node src/agents/main.ts --types mock,gadget --url http://127.0.0.1:4000/graphql`.
 * The token comes from PHASELINE_TOKEN, since arguments are visible to everybody; the gadgets' folders from
 * PHASELINE_GADGETS. It ends on SIGINT and SIGTERM, and when the process that started it is gone.
 */
interface BuiltIn {
  readonly concurrency: number
  readonly work: Work
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

function builtIns(env: NodeJS.ProcessEnv): Readonly<Record<string, BuiltIn>> {
  const folders = (env.PHASELINE_GADGETS ?? '').split(delimiter).filter((folder) => folder !== '')
  return {
    mock: { concurrency: 4_000, work: mockWork({ crash: () => process.exit(EXIT_FAILED) }) },
    gadget: { concurrency: 8, work: gadgetWork({ folders, env: { ...env }, graceMs: GRACE_MS, onGroup: tellGroup }) },
  }
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
    },
  })
  const known = builtIns(process.env)
  const types = (values.types ?? Object.keys(known).join(',')).split(',')
  const unknown = types.filter((type) => !Object.hasOwn(known, type))
  const token = process.env.PHASELINE_TOKEN
  // Whatever this process starts shall not find it.
  delete process.env.PHASELINE_TOKEN
  const limit = values.concurrency === undefined ? undefined : Number(values.concurrency)
  if (unknown.length > 0 || !token || (limit !== undefined && !(Number.isInteger(limit) && limit > 0))) {
    tell('usage', { message: usageProblem(unknown, token) })
    return EXIT_USAGE
  }
  const failed = new AbortController()
  const signal = AbortSignal.any([endSignal(), failed.signal])
  await using client = createClient({ url: values.url, token })
  const common = { client, leaseMs: LEASE_MS, renewMs: RENEW_MS, drainMs: DRAIN_MS, signal }
  const instance = values.instance ?? `${process.pid}-${uuid().slice(-12)}`
  const agents = types.map(async (type) => {
    const { concurrency, work } = known[type] as BuiltIn
    await runAgent({
      ...common,
      instance: `${type}-${instance}`,
      types: [type],
      targets: values.targets?.split(','),
      concurrency: limit ?? concurrency,
      work,
      onProblem: (problem) => tellProblem(type, problem),
    }).finally(() => failed.abort())
  })
  // One that cannot go on ends them all: whoever supervises the process sees why.
  const ends = await Promise.allSettled(agents)
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return 0
}

function usageProblem(unknown: readonly string[], token: string | undefined): string {
  if (unknown.length > 0) return `There is no built-in agent for ${unknown.join(', ')}.`
  return token ? '--concurrency must be a positive whole number.' : 'PHASELINE_TOKEN must hold the agent’s token.'
}

try {
  process.exitCode = await main()
} catch (error) {
  tell('agent ended', { message: error instanceof Error ? error.message : String(error) })
  process.exitCode = EXIT_FAILED
}
// An open channel would keep the process although there is nothing left to do.
if (process.connected) process.disconnect()
