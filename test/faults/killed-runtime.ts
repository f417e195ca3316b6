import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { AgentProcessOptions } from '../../src/agents/agent-process.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import type { Client } from '../../src/client/index.ts'
import { Secret } from '../../src/core/secret.ts'
import type { NodeOf, ResultOf } from '../../src/documents/typed-document.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { seeded } from '../testkit/seed.ts'
import { startSharedServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

const random = seeded()

/**
 * Real workers, while the engine and the runtime are killed with -9 again and again, and another engine beside them has a clock
 * that is wrong by more than a lease. Each worker ends with its own result, none runs twice, and nothing is left.
 */

export interface KilledRuntime {
  readonly type: string
  /** At least so many; more follow as these end, until there were enough kills. */
  readonly events: number
  readonly image?: string
  /** False: a second run has a folder of its own, and `starts` shows it. */
  readonly sharesWorkspace?: boolean
  /** Arguments of the runtime's agent, for each start anew. */
  agent(): Pick<AgentProcessOptions, 'state' | 'options' | 'settings'>
  /** Workers at the same time; 10 by default. */
  readonly atOnce?: number
  /** How long a worker runs at least; it runs up to a second more. 0 by default. */
  readonly seconds?: number
  /** Kills of the runtime: at least, while there is work, and at most. 1, and without end, by default. */
  readonly fewestKills?: number
  readonly mostKills?: number
  /** Up to so many milliseconds between two kills; 1,500 by default. */
  readonly pauseMs?: number
  /** A further disturbance, once, while workers run. */
  disturb?(): Promise<void>
  /** How often each worker was started, as the place itself has recorded it. */
  starts?(ids: readonly string[]): Promise<readonly number[]>
  /** Remains of these workers where they ran. */
  leftovers(ids: readonly string[]): Promise<readonly unknown[]>
}

const TWICE = 9
/** A second run finds the folder of the first. Process ids prove nothing, since all sandboxes have the same. */
const scriptOf = (seconds: number) => `
mkdir "$PHASELINE_WORKSPACE/ran" || exit ${TWICE}
echo "it runs in $PHASELINE_WORKSPACE"
n=$(od -An -N1 -tu1 /dev/urandom)
sleep ${seconds}.$(((n % 8) + 1))
exit $((n % 3))
`
const WORKERS =
  gql(`query ($after: String) { objects(filter: { project: "killed", kinds: [WORKER] }, first: 250, after: $after) {
  pageInfo { hasNextPage endCursor } edges { node {
  id phase finished error { code message } ... on Worker { exitCode attempt resources { kind removeAt removedAt } } } } } }`)

type SeenWorker = Extract<NodeOf<ResultOf<typeof WORKERS>['objects']>, { readonly attempt: number }>
async function workersOf(client: Client): Promise<readonly SeenWorker[]> {
  const workers: SeenWorker[] = []
  for (let after: string | null = null; ; ) {
    const answer: ResultOf<typeof WORKERS> = await client.query(WORKERS, { after })
    const objects = present(answer.objects)
    workers.push(...objects.edges.flatMap(({ node }) => (node.attempt === undefined ? [] : [node])))
    if (!objects.pageInfo.hasNextPage) return workers
    after = objects.pageInfo.endCursor
  }
}

export interface Killed {
  readonly runtime: number
  readonly engine: number
}

/** Returns the numbers of kills. */
export async function killRuntime(killed: KilledRuntime): Promise<Killed> {
  const { type, events, image, sharesWorkspace = true, agent: agentOf, disturb, starts, leftovers } = killed
  const { fewestKills = 1, mostKills = Number.POSITIVE_INFINITY, pauseMs = 1_500, atOnce = 10, seconds = 0 } = killed
  await using server = await startSharedServer({
    secondary: { offset: '+20s' },
    env: {
      PHASELINE_ROLES: 'gateway,engine',
      PHASELINE_CLEANUP_DELAY_MS: '300',
      PHASELINE_MAX_WORKERS: String(atOnce),
    },
  })
  const input = { name: 'runtime', role: 'AGENT', actor: 'RUNTIME', types: [type] } as const
  const token = new Secret((await ask(server.client, MUTATIONS.createToken, input)).secret)
  const start = () =>
    startAgentProcess({ types: [type], url: server.url, token, graceMs: 500, leaseMs: 8_000, ...agentOf() })
  let agent = start()
  const command = { command: ['sh', '-c', scriptOf(seconds)], workspace: sharesWorkspace }
  const workerTemplate = { ...command, runtime: type, ...(image === undefined ? {} : { image }) }
  await ask(server.client, MUTATIONS.createProject, { name: 'killed', workerTemplate })
  let created = 0
  const create = async (count: number): Promise<void> => {
    for (const until = created + count; created < until; created += 1) {
      const event = { project: 'killed', source: 'test', type: 'kill', idempotencyKey: `event-${created}` }
      await ask(server.client, MUTATIONS.createEvent, event)
    }
  }
  await create(events)
  const unfinished = async () => {
    const workers = await workersOf(server.client).catch(() => [])
    return created - workers.filter(({ finished }) => finished).length
  }
  const kill = {
    async engine() {
      await server.kill()
      await server.start()
    },
    async runtime() {
      const pid = await until(() => agent.pid, { what: 'the runtime is started' })
      process.kill(pid, 'SIGKILL')
      // Another supervisor: one would wait longer and longer before it tries again.
      await agent.close()
      agent = start()
    },
  }
  const kills = { runtime: 0, engine: 0 }
  for (let round = 0; kills.runtime < fewestKills || (await unfinished()) > 0; round += 1) {
    if (kills.runtime < fewestKills) await create(Math.max(0, 2 * atOnce - (await unfinished())))
    await delay(200 + random() * pauseMs)
    if (kills.runtime >= mostKills) continue
    if (round === 2) await disturb?.()
    const which = round % 4 === 3 ? 'engine' : 'runtime'
    await kill[which]()
    kills[which] += 1
  }
  await until(async () => (await workersOf(server.client)).every((w) => w.resources.every((r) => r.removedAt)), {
    what: 'all resources are removed',
  })
  const workers = await workersOf(server.client)
  // Each has its own result: nothing was lost with the killed processes.
  for (const { phase, exitCode, error } of workers) {
    expect(['SUCCEEDED', 'FAILED'], JSON.stringify({ phase, exitCode, error })).toContain(phase)
    expect(exitCode === 0).toBe(phase === 'SUCCEEDED')
    expect(exitCode).not.toBe(TWICE)
  }
  await agent.close()
  const ids = workers.map(({ id }) => id)
  expect(new Set(ids).size).toBe(created)
  expect(kills.runtime).toBeGreaterThanOrEqual(fewestKills)
  if (starts) expect(await starts(ids)).toEqual(ids.map(() => 1))
  expect(await leftovers(ids)).toEqual([])
  if (process.env.SOAK) report(type, workers, kills)
  return kills
}

function report(type: string, workers: readonly SeenWorker[], { runtime, engine }: Killed): void {
  const ended = (phase: string) => workers.filter((worker) => worker.phase === phase).length
  console.log(
    `${type}: ${runtime} kills of the runtime and ${engine} of the engine under ${workers.length} workers: ` +
      `${ended('SUCCEEDED')} SUCCEEDED, ${ended('FAILED')} FAILED with the exit code of their own.`,
  )
}
