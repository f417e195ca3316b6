import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { AgentProcess, AgentProcessOptions } from '../../src/agents/agent-process.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'
import type { NodeOf, ResultOf, VariablesOf } from '../../src/documents/typed-document.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { canIsolate } from '../testkit/bubblewrap.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { seeded } from '../testkit/seed.ts'
import { type ReachableServer, startSharedServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { place, processesOf } from './process-place.ts'

const random = seeded()

/** The process runtime on the real server. */

const TREE = gql(`query Tree($id: ID!) { tree(rootId: $id) { objects { edges { node {
  id kind phase error { code message } logs(first: 50) { edges { node { stream text } } }
  ... on Worker { exitCode } ... on Job { exitCode }
} } } } }`)
const ATTEMPTS = gql(`query Attempts($ids: [ID!]!) { nodes(ids: $ids) {
  ... on WorkObject { maxAttempts attempts { number error { code } } }
} }`)
type Seen = NodeOf<NonNullable<ResultOf<typeof TREE>['tree']>['objects']>

const ENV = { PHASELINE_ROLES: 'gateway,engine', PHASELINE_CLEANUP_DELAY_MS: '500' }
const TRUSTED = { isolation: 'trusted' }
/** With the node of the tests, wherever it is. */
const ISOLATED = { isolation: 'isolated', folders: dirname(process.execPath) }
const LEVELS = (await canIsolate()) ? [TRUSTED, ISOLATED] : [TRUSTED]

type Options = NonNullable<AgentProcessOptions['options']>
const startAll = (options: Options = TRUSTED) => startAllOf(options, () => startTestApp({ env: ENV }))
const startKillable = () => startAllOf<TestServer>(TRUSTED, () => startSharedServer({ env: ENV }))

async function startAllOf<S extends ReachableServer>(options: Options, serve: () => Promise<S>) {
  await using starting = new AsyncDisposableStack()
  const server = starting.use(await serve())
  const { state } = starting.use(await place())
  const { secret } = await ask(server.client, MUTATIONS.createToken, {
    name: 'runtime',
    role: 'AGENT',
    actor: 'RUNTIME',
    types: ['process'],
  })
  const agent = starting.use(
    startAgentProcess({
      types: ['process'],
      url: server.url,
      token: new Secret(secret),
      state,
      graceMs: 500,
      leaseMs: 8_000,
      options,
    }),
  )
  const all = starting.move()
  return { server, state, agent, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

type ProjectInput = VariablesOf<typeof MUTATIONS.createProject>['input']
async function createProject(
  { client }: ReachableServer,
  workerTemplate: ProjectInput['workerTemplate'],
): Promise<string> {
  const name = `p${randomBytes(4).toString('hex')}`
  await ask(client, MUTATIONS.createProject, { name, workerTemplate })
  return name
}
async function createEvent({ client }: ReachableServer, project: string): Promise<string> {
  const input = { project, source: 'test', type: 'push', payload: 'the payload' }
  const { events } = await ask(client, MUTATIONS.createEvent, input)
  return present(events[0]).id
}
async function tree({ client }: ReachableServer, id: string): Promise<readonly Seen[]> {
  const data = await client.query(TREE, { id })
  return data.tree?.objects.edges.map(({ node }) => node) ?? []
}
const untilPhase = (server: ReachableServer, id: string, phase: string) =>
  until(async () => (await tree(server, id)).find((o) => o.kind === 'EVENT' && o.phase === phase), {
    what: `${id} is ${phase}`,
  })
const untilCleanedUp = (state: string) =>
  until(
    async () =>
      [...(await readdir(join(state, 'workloads'))), ...(await readdir(join(state, 'workspaces')))].length === 0,
    {
      what: 'nothing is left',
    },
  )

const CREATE_JOB = `
const input = { name: 'build', spec: { command: ['sh', '-c', 'cat note; exit 3'], workspace: true } }
const query = 'mutation M($input: CreateJobInput!) { createJob(input: $input) { __typename ... on Error { message } } }'
const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.PHASELINE_TOKEN }
require('fs').writeFileSync('note', 'from the worker')
const { payload } = JSON.parse(require('fs').readFileSync(process.env.PHASELINE_EVENT, 'utf8'))
const send = (body) => fetch(process.env.PHASELINE_URL, { method: 'POST', headers, body: JSON.stringify(body) }).then((r) => r.text())
const sendAgain = (body) => send(body).catch(() => new Promise((done) => setTimeout(done, 100)).then(() => sendAgain(body)))
send({ query, variables: { input } }).then((text) => console.log(payload, text))
  .then(() => new Promise((done) => { const look = setInterval(() => require('fs').existsSync('end') && (clearInterval(look), done()), 20) }))
  .then(() => sendAgain({ query: '{ viewer { role } }' })).then((text) => console.log('at its end', text))
`

describe('the process runtime', () => {
  it.each(LEVELS)(
    'runs a worker and the job that it creates, in one workspace, and cleans up: $isolation',
    async (options) => {
      await using all = await startAll(options)
      const { server, state, agent } = all
      const template = { command: [process.execPath, '-e', CREATE_JOB], workspace: true }
      const id = await createEvent(server, await createProject(server, template))
      const job = await until(
        async () => (await tree(server, id)).find(({ kind, phase }) => kind === 'JOB' && phase === 'FAILED'),
        {
          what: 'the job has ended',
        },
      )
      expect(job).toMatchObject({
        exitCode: 3,
        error: { code: 'EXIT_CODE' },
        logs: { edges: [{ node: { text: 'from the worker' } }] },
      })
      // The job may have ended before the worker has printed the answer.
      const worker = await until(
        async () => (await tree(server, id)).find(({ kind, logs }) => kind === 'WORKER' && logs.edges.length > 0),
        { what: 'the worker has said something' },
      )
      expect(worker.logs.edges[0]?.node.text).toContain('the payload {"data":{"createJob":{"__typename":"Job"}}}')
      // The next runtime adopts it, and opens its way to the API again.
      killAgent(agent)
      await writeFile(join(state, 'workspaces', worker.id, 'end'), '')
      await untilPhase(server, id, 'SUCCEEDED')
      const said = (await tree(server, id)).find(({ kind }) => kind === 'WORKER')?.logs.edges ?? []
      expect(said.map(({ node }) => node.text).join()).toContain('at its end {"data":{"viewer":{"role":')
      await untilCleanedUp(state)
    },
  )

  it('starts a job again by its retry policy: after an attempt that hangs, and after one that fails', async () => {
    await using all = await startAll()
    const { server, state } = all
    const script =
      'echo began; test -f hung || { touch hung; sleep 1000; }; test -f failed || { touch failed; exit 3; }; echo well'
    const retry = { attempts: 3, backoff: { initialMs: 100, jitter: 0 }, attemptTimeoutMs: 6000 }
    const spec = { command: ['sh', '-c', script], workspace: true, retry }
    const create = CREATE_JOB.replace(/spec: .*/, `spec: ${JSON.stringify(spec)} }`)
    const id = await createEvent(
      server,
      await createProject(server, { command: [process.execPath, '-e', create], workspace: true }),
    )
    const job = await until(
      async () => (await tree(server, id)).find(({ kind, phase }) => kind === 'JOB' && phase === 'SUCCEEDED'),
      { what: 'the third attempt has succeeded' },
    )
    expect(job).toMatchObject({ exitCode: 0, error: null })
    const { nodes } = await server.client.query(ATTEMPTS, { ids: [job.id] })
    expect(nodes[0]).toMatchObject({
      maxAttempts: 3,
      attempts: [
        { number: 1, error: { code: 'ATTEMPT_TIMEOUT' } },
        { number: 2, error: { code: 'EXIT_CODE' } },
        { number: 3, error: null },
      ],
    })
    // The first attempt was stopped before the second began.
    expect(processesOf(job.id)).toEqual([])
    const lines = job.logs.edges.map(({ node }) => node.text)
    expect(lines.filter((line) => line === 'began')).toHaveLength(3)
    expect(lines.at(-1)).toBe('well')
    const worker = (await tree(server, id)).find(({ kind }) => kind === 'WORKER')
    await writeFile(join(state, 'workspaces', worker?.id ?? '', 'end'), '')
    await untilPhase(server, id, 'SUCCEEDED')
    await untilCleanedUp(state)
  })

  it('starts a worker again by its retry policy, whose token of the new attempt creates the job anew', async () => {
    await using all = await startAll()
    const { server, state } = all
    const mark = JSON.stringify(join(state, 'has-failed'))
    const job = (code: number) => CREATE_JOB.replace(/spec: .*/, `spec: { command: ['sh', '-c', 'exit ${code}'] } }`)
    const script = `
      const { existsSync, writeFileSync } = require('node:fs')
      if (existsSync(${mark})) { ${job(0)} }
      else { ${job(5)}; writeFileSync(${mark}, ''); setTimeout(() => process.exit(3), 1000) }`
    const id = await createEvent(
      server,
      await createProject(server, {
        command: [process.execPath, '-e', script],
        workspace: true,
        retry: { attempts: 2, backoff: { initialMs: 100, jitter: 0 } },
      }),
    )
    await until(
      async () => (await tree(server, id)).some(({ kind, phase }) => kind === 'JOB' && phase === 'SUCCEEDED'),
      {
        what: 'the second attempt has a job',
      },
    )
    const worker = present((await tree(server, id)).find(({ kind }) => kind === 'WORKER'))
    await writeFile(join(state, 'workspaces', worker.id, 'end'), '')
    await untilPhase(server, id, 'SUCCEEDED')
    const { nodes } = await server.client.query(ATTEMPTS, { ids: [worker.id] })
    expect(nodes[0]).toMatchObject({
      maxAttempts: 2,
      attempts: [
        { number: 1, error: { code: 'EXIT_CODE' } },
        { number: 2, error: null },
      ],
    })
    await untilCleanedUp(state)
  })

  it('ends cancelled and deleted workloads at once', async () => {
    await using all = await startAll()
    const { server, state } = all
    const project = await createProject(server, {
      command: ['sh', '-c', 'trap "" TERM; sleep 1000 & wait; sleep 1000'],
    })
    const [first, second] = [await createEvent(server, project), await createEvent(server, project)]
    for (const id of [first, second]) await untilPhase(server, id, 'RUNNING')
    const workers = (await Promise.all([tree(server, first), tree(server, second)]))
      .flat()
      .filter((o) => o.kind === 'WORKER')
    expect(workers.map(({ id }) => processesOf(id).length > 0)).toEqual([true, true])
    await ask(server.client, MUTATIONS.cancelEvent, { id: first })
    await ask(server.client, MUTATIONS.deleteEvent, { id: second })
    await until(() => workers.every(({ id }) => processesOf(id).length === 0), { what: 'ended' })
    await untilCleanedUp(state)
    expect((await untilPhase(server, first, 'ABORTED')).error).not.toBeNull()
  })

  it('ends workloads cancelled during their start: 100 rounds, and no process is left', async () => {
    await using all = await startAll()
    const { server, state } = all
    const project = await createProject(server, { command: ['sleep', '1000'] })
    const workers: string[] = []
    const round = async (): Promise<void> => {
      const id = await createEvent(server, project)
      await delay(random() * 150)
      workers.push(...(await tree(server, id)).filter(({ kind }) => kind === 'WORKER').map((worker) => worker.id))
      await ask(server.client, MUTATIONS.cancelEvent, { id })
      const phase = (await tree(server, id)).find(({ kind }) => kind === 'EVENT')?.phase
      expect(['ABORTED', 'CANCELED']).toContain(phase)
    }
    for (let i = 0; i < 20; i += 1) await Promise.all([round(), round(), round(), round(), round()])
    expect(workers).toHaveLength(100)
    await untilCleanedUp(state)
    await until(() => workers.flatMap(processesOf).length === 0, { what: 'no process is left' })
  })

  it('survives kill -9 of runtime and server: every event ends, each ran once, nothing is left', async () => {
    await using all = await startKillable()
    const { server, state, agent } = all
    const runs = join(state, 'runs')
    const project = await createProject(server, {
      command: ['sh', '-c', `echo "$PHASELINE_WORKER_ID" >> ${runs}; sleep 0.$(( $$ % 9 )); echo done; exit 0`],
    })
    const ids: string[] = []
    for (let i = 0; i < 30; i += 1) {
      ids.push(await createEvent(server, project))
      if (i % 6 === 2) killAgent(agent)
      if (i === 15) {
        await server.kill()
        await server.start()
      }
    }
    for (const id of ids) await untilPhase(server, id, 'SUCCEEDED')
    const ran = (await readFile(runs, 'utf8')).trim().split('\n')
    expect(ran).toHaveLength(30)
    expect(new Set(ran).size).toBe(30)
    for (const id of ran) expect(processesOf(id)).toEqual([])
    await untilCleanedUp(state)
  })
})

function killAgent({ pid }: AgentProcess): void {
  if (pid !== null) process.kill(pid, 'SIGKILL')
}
