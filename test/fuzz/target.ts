import { join } from 'node:path'
import { GATEWAY_LIMITS } from '../../src/core/gateway-limits.ts'
import { setCapacity } from '../../src/families/pipelines/store/slots.ts'
import { createWorkerTokens } from '../../src/families/pipelines/store/worker-tokens.ts'
import { createSealing } from '../../src/store/sealing.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import type { CallerName } from './cases.ts'

/** The server that is fuzzed, in a process of its own, with objects of each family to aim at. */
export interface Target extends AsyncDisposable {
  readonly port: number
  token(caller: CallerName): string
  /** Replaces each `@name` in the texts of a value. */
  resolve<T>(value: T, caller: CallerName): T
  /** Takes fences from an answer, for later calls. */
  learn(answer: string): void
  /** Makes the objects anew, since cases change and delete them. */
  renew(): Promise<void>
  /** The server's log since the last call. */
  newOutput(): string
  /** Bytes in use after a garbage collection. */
  memory(): Promise<Memory>
}
export interface Memory {
  readonly used: number
  readonly rss: number
}

/** A fuzzer is one principal that sends as fast as it can. */
const UNLIMITED = Object.fromEntries(
  Object.entries(GATEWAY_LIMITS)
    .filter(([name]) => /^(requests|open)/.test(name))
    .map(([, { setting, most }]) => [setting, String(most)]),
)

const TOKENS = [
  ['admin', { role: 'ADMIN' }],
  ['editor', { role: 'USER', projects: ['fuzz'] }],
  ['reader', { role: 'READER', projects: ['fuzz'] }],
  ['deployer', { role: 'AGENT', actor: 'DEPLOYER' }],
  ['crm', { role: 'AGENT', actor: 'CRM' }],
] as const
const SLOTS = 1_000_000
const workerTemplate = { command: ['true'] }

export async function startTarget(): Promise<Target> {
  await using starting = new AsyncDisposableStack()
  const database = starting.use(await createTestDatabase(1))
  const { pool } = database
  const server = starting.use(
    await startServer({
      program: join(import.meta.dirname, 'server-process.ts'),
      env: {
        ...UNLIMITED,
        DATABASE_URL: database.url,
        PHASELINE_SECRET_KEY: SECRET_KEY,
        PHASELINE_ROLES: 'gateway,engine',
      },
    }),
  )
  const { client } = server
  // No runtime ends a worker, and one without a slot has no valid token.
  await setCapacity(pool, { maxWorkers: SLOTS, maxJobs: SLOTS })
  for (const name of ['fuzz', 'foreign']) await ask(client, MUTATIONS.createProject, { name, workerTemplate })
  const tokens = new Map<CallerName, string>()
  for (const [name, token] of TOKENS)
    tokens.set(
      name,
      (
        await ask(client, MUTATIONS.createToken, {
          name,
          ...token,
          projects: 'projects' in token ? [...token.projects] : null,
        })
      ).secret,
    )
  const workerTokens = createWorkerTokens(
    pool,
    createSealing([Buffer.from(SECRET_KEY, 'base64')], { secret: () => Buffer.alloc(0) }),
  )
  let names: Record<string, string> = {}
  const pid = Number(/^process (\d+)$/m.exec(server.output())?.[1])
  let seen = server.output().length

  const renew = async (): Promise<void> => {
    names = { ...(await createObjects()), '@fence': 'none', '@oldFence': 'none', '@cursor': '0', '@change': '1:0' }
    names['@host'] = new URL(server.url).host
    tokens.set('worker', workerTokens.tokenOf(names['@worker'] ?? '', 0) ?? '')
  }
  await renew()

  const running = starting.move()
  return {
    port: Number(new URL(server.url).port),
    token: (caller) => tokens.get(caller) ?? '',
    resolve: (value, caller) => resolved(value, { ...names, '@bearer': `Bearer ${tokens.get(caller)}` }),
    learn(answer) {
      const fence = /"fence":"([\w.:-]+)"/.exec(answer)?.[1]
      if (fence) names = { ...names, '@oldFence': names['@fence'] ?? '', '@fence': fence }
    },
    renew,
    newOutput() {
      const output = server.output().slice(seen).replaceAll(EXPECTED, '')
      seen = server.output().length
      return output
    },
    async memory() {
      const before = server.output().length
      process.kill(pid, 'SIGUSR2')
      const line = await until(() => /^memory (.*)$/m.exec(server.output().slice(before))?.[1], {
        what: 'it says its memory',
      })
      return JSON.parse(line) as Memory
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }

  async function createObjects(): Promise<Record<string, string>> {
    const suffix = `${Math.floor(performance.now())}`
    const input = { project: 'fuzz', name: `fuzz-${suffix}` }
    const { id: installation } = await ask(client, MUTATIONS.createInstallation, {
      ...input,
      spec: {
        deployItems: [
          { name: 'a', type: 'mock' },
          { name: 'b', type: 'mock' },
        ],
      },
    })
    const { id: foreign } = await ask(client, MUTATIONS.createInstallation, { ...input, project: 'foreign', spec: {} })
    const { id: task } = await ask(client, MUTATIONS.createTask, { ...input, jobs: [{ name: 'a', gadget: 'a' }] })
    const { id: cloudlet } = await ask(client, MUTATIONS.createCloudlet, input)
    const [event] = (await ask(client, MUTATIONS.createEvent, { project: 'fuzz', source: 'fuzz', type: 'push' })).events
    const { rows } = await pool.query<{ kind: string; id: string }>(
      `select kind, id from object where root_id = any($1) order by id`,
      [[installation, task, event?.id]],
    )
    const idOf = (kind: string): string => rows.find((row) => row.kind === kind)?.id ?? installation
    const { rows: others } = await pool.query<{ project: string; principal: string; token: string }>(
      `select p.id as project, t.principal_id as principal, t.id as token from project p, token t where p.name = 'fuzz' and t.name = 'reader' limit 1`,
    )
    const [other] = others
    return {
      ...{
        '@installation': installation,
        '@foreign': foreign,
        '@task': task,
        '@cloudlet': cloudlet,
        '@event': event?.id ?? '',
      },
      ...{
        '@item': idOf('DEPLOY_ITEM'),
        '@job': idOf('GADGET_JOB'),
        '@worker': idOf('WORKER'),
        '@cluster': cloudlet,
        '@app': task,
      },
      ...{ '@projectId': other?.project ?? '', '@principal': foreign, '@token': foreign },
    }
  }
}

/** Its memory, which a test has asked for, and what a server says of strangers. */
const EXPECTED = /^(memory |.*Requests with wrong tokens were refused).*\n/gm

const NAME = /@[a-zA-Z]+/g
function resolved<T>(value: T, names: Readonly<Record<string, string>>): T {
  const text = JSON.stringify(value)
  return text === undefined
    ? value
    : JSON.parse(text.replaceAll(NAME, (name) => (Object.hasOwn(names, name) ? (names[name] ?? name) : name)))
}
