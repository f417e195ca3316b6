import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import type { Client } from '../../src/client/index.ts'
import { Secret } from '../../src/core/secret.ts'
import type { NodeOf, ResultOf } from '../../src/documents/typed-document.ts'
import { processesOf } from '../agents/process-place.ts'
import { ask } from '../testkit/ask.ts'
import { canIsolate } from '../testkit/bubblewrap.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { startSharedServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'

/**
 * Real workers and jobs, while the engine and the runtime are killed with -9 again and again, and another engine beside them
 * has a clock that is wrong by more than a lease.
 */

const EVENTS = soak(80, 200)
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
  id phase finished error { code } ... on Worker { exitCode attempt resources { kind removeAt removedAt } } } } } }`)

type SeenWorker = Extract<NodeOf<ResultOf<typeof WORKERS>['objects']>, { readonly attempt: number }>
async function workersOf(client: Client): Promise<readonly SeenWorker[]> {
  const { objects } = await client.query(WORKERS, {})
  return (objects?.edges ?? []).flatMap(({ node }) => (node.attempt === undefined ? [] : [node]))
}

test('kill -9 of engine and runtime over 200 events: each ends, none runs twice, no process remains', {
  timeout: 240_000,
}, async () => {
  const state = await mkdtemp(join(tmpdir(), 'phaseline-runtime-'))
  await using server = await startSharedServer({
    secondary: { offset: '+20s' },
    env: {
      PHASELINE_ROLES: 'gateway,engine',
      PHASELINE_CLEANUP_DELAY_MS: '300',
      PHASELINE_MAX_WORKERS: '10',
    },
  })
  const token = await runtimeToken(server.client)
  {
    const levels = (await canIsolate()) ? ['isolated', 'trusted'] : ['trusted']
    let starts = 0
    // Each runtime adopts what runs, at whatever level the one before it has started it.
    const start = () =>
      startAgentProcess({
        types: ['process'],
        url: server.url,
        token: new Secret(token),
        state,
        graceMs: 500,
        leaseMs: 8_000,
        options: { isolation: levels[starts++ % levels.length] },
      })
    let agent = start()
    const workerTemplate = {
      command: ['sh', '-c', SCRIPT],
      workspace: true,
    }
    await ask(server.client, MUTATIONS.createProject, { name: 'killed', workerTemplate })
    for (let i = 0; i < EVENTS; i++) {
      const project = 'killed'
      await ask(server.client, MUTATIONS.createEvent, {
        project,
        source: 'test',
        type: 'kill',
        idempotencyKey: `event-${i}`,
      })
    }
    const all = async () => {
      const workers = await workersOf(server.client).catch(() => [])
      return workers.length === EVENTS && workers.every(({ finished }) => finished)
    }
    for (let kills = 0; !(await all()); kills++) {
      await delay(200 + Math.random() * 1_500)
      if (kills % 4 === 3) {
        await server.kill()
        await server.start()
      } else if (agent.pid !== null) {
        process.kill(agent.pid, 'SIGKILL')
        // Another supervisor: one would wait longer and longer before it tries again.
        await agent.close()
        agent = start()
      }
    }
    await until(async () => (await workersOf(server.client)).every((w) => w.resources.every((r) => r.removedAt)), {
      what: 'all resources are removed',
      timeoutMs: 60_000,
    })
    const workers = await workersOf(server.client)
    // Each has its own result: nothing was lost with the killed processes.
    for (const { phase, exitCode, error } of workers) {
      expect(['SUCCEEDED', 'FAILED'], JSON.stringify({ phase, exitCode, error })).toContain(phase)
      expect(exitCode === 0).toBe(phase === 'SUCCEEDED')
      expect(exitCode).not.toBe(TWICE)
    }
    expect(readdirSync(join(state, 'workloads'))).toEqual([])
    expect(readdirSync(join(state, 'workspaces'))).toEqual([])
    expect(workers.flatMap(({ id }) => processesOf(id))).toEqual([])
    await agent.close()
  }
  await rm(state, { recursive: true })
})

async function runtimeToken(client: Client): Promise<string> {
  const input = { name: 'runtime', role: 'AGENT', actor: 'RUNTIME', types: ['process'] } as const
  return (await ask(client, MUTATIONS.createToken, input)).secret
}
