import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { AgentProcessOptions } from '../../src/agents/agent-process.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import type { Client } from '../../src/client/index.ts'
import { Secret } from '../../src/core/secret.ts'
import type { NodeOf, ResultOf } from '../../src/documents/typed-document.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { startSharedServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/**
 * Real workers, while the engine and the runtime are killed with -9 again and again, and another engine beside them has a clock
 * that is wrong by more than a lease. Each worker ends with its own result, none runs twice, and nothing is left.
 */

export interface KilledRuntime {
  readonly type: string
  readonly events: number
  readonly image?: string
  /** False: a second run has a folder of its own, and `starts` shows it. */
  readonly sharesWorkspace?: boolean
  /** Arguments of the runtime's agent, for each start anew. */
  agent(): Pick<AgentProcessOptions, 'state' | 'options' | 'settings'>
  /** At most so many kills, with up to so many milliseconds between two; without end, and 1,500, by default. */
  readonly mostKills?: number
  readonly pauseMs?: number
  /** What else happens once, at work. */
  disturb?(): Promise<void>
  /** How often each worker was started, as the place itself has recorded it. */
  starts?(ids: readonly string[]): Promise<readonly number[]>
  /** What is left of these workers where they ran. */
  leftovers(ids: readonly string[]): Promise<readonly unknown[]>
}

const TWICE = 9
/** A second run finds the folder of the first. In a sandbox all have the same process id. */
const SCRIPT = `
mkdir "$PHASELINE_WORKSPACE/ran" || exit ${TWICE}
echo "it runs in $PHASELINE_WORKSPACE"
n=$(od -An -N1 -tu1 /dev/urandom)
sleep 0.$(((n % 8) + 1))
exit $((n % 3))
`
const WORKERS =
  gql(`query ($after: String) { objects(filter: { project: "killed", kinds: [WORKER] }, first: 250, after: $after) { edges { node {
  id phase finished error { code message } ... on Worker { exitCode attempt resources { kind removeAt removedAt } } } } } }`)

type SeenWorker = Extract<NodeOf<ResultOf<typeof WORKERS>['objects']>, { readonly attempt: number }>
async function workersOf(client: Client): Promise<readonly SeenWorker[]> {
  const { objects } = await client.query(WORKERS, {})
  return (objects?.edges ?? []).flatMap(({ node }) => (node.attempt === undefined ? [] : [node]))
}

/** Returns the number of kills. */
export async function killRuntime(killed: KilledRuntime): Promise<number> {
  const { type, events, image, sharesWorkspace = true, agent: agentOf, disturb, starts, leftovers } = killed
  const { mostKills = Number.POSITIVE_INFINITY, pauseMs = 1_500 } = killed
  await using server = await startSharedServer({
    secondary: { offset: '+20s' },
    env: {
      PHASELINE_ROLES: 'gateway,engine',
      PHASELINE_CLEANUP_DELAY_MS: '300',
      PHASELINE_MAX_WORKERS: '10',
    },
  })
  const input = { name: 'runtime', role: 'AGENT', actor: 'RUNTIME', types: [type] } as const
  const token = new Secret((await ask(server.client, MUTATIONS.createToken, input)).secret)
  const start = () =>
    startAgentProcess({ types: [type], url: server.url, token, graceMs: 500, leaseMs: 8_000, ...agentOf() })
  let agent = start()
  const command = { command: ['sh', '-c', SCRIPT], workspace: sharesWorkspace }
  const workerTemplate = { ...command, runtime: type, ...(image === undefined ? {} : { image }) }
  await ask(server.client, MUTATIONS.createProject, { name: 'killed', workerTemplate })
  for (let i = 0; i < events; i++) {
    const idempotencyKey = `event-${i}`
    await ask(server.client, MUTATIONS.createEvent, { project: 'killed', source: 'test', type: 'kill', idempotencyKey })
  }
  const all = async () => {
    const workers = await workersOf(server.client).catch(() => [])
    return workers.length === events && workers.every(({ finished }) => finished)
  }
  const kill = async (isServer: boolean): Promise<void> => {
    if (isServer) {
      await server.kill()
      await server.start()
    } else if (agent.pid !== null) {
      process.kill(agent.pid, 'SIGKILL')
      // Another supervisor: one would wait longer and longer before it tries again.
      await agent.close()
      agent = start()
    }
  }
  let kills = 0
  while (!(await all())) {
    await delay(200 + Math.random() * pauseMs)
    if (kills === mostKills) continue
    if (kills === 2) await disturb?.()
    await kill(kills % 4 === 3)
    kills += 1
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
  expect(new Set(ids).size).toBe(events)
  if (starts) expect(await starts(ids)).toEqual(ids.map(() => 1))
  expect(await leftovers(ids)).toEqual([])
  return kills
}
