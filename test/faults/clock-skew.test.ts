import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import type { Actor } from '../../src/core/vocabulary.ts'
import { startAgent } from '../testkit/agent.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, type ServerOptions, startServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Processes with wall clocks that are wrong or set while they work, next to others on the same database. */

const ADMINISTRATOR = 'administrator-of-skewed-clocks'
/**
 * Shorter than any of the shifts, so that leases judged by a wall clock would be expired or endless; and longer than a machine
 * may stand still.
 */
const LEASE_MS = 12_000
const SHIFTS = ['+20s', '-20s', '+600s', '-600s']

const CLAIM = gql(`mutation ($input: ClaimWorkInput!) { answer: claimWork(input: $input) {
  ... on ClaimedWork { items { fence name } } ... on Error { message } } }`)
const RENEW = gql(`mutation ($input: RenewLeasesInput!) { answer: renewLeases(input: $input) {
  ... on RenewedLeases { leases { state } } ... on Error { message } } }`)

/** A database, and processes on it that know each other's tokens. */
async function openPlace() {
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await createTestDatabase(1))
  const env = { DATABASE_URL: database.url, PHASELINE_SECRET_KEY: SECRET_KEY }
  const running = opening.move()
  return {
    pool: database.pool,
    server: async (roles: string, options: ServerOptions = {}) => {
      const given = { ...env, PHASELINE_ROLES: roles, ...options.env }
      return running.use(await startServer({ ...options, token: ADMINISTRATOR, env: given }))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
async function agentToken(client: Client, actor: Actor, type: string): Promise<string> {
  return (await ask(client, MUTATIONS.createToken, { name: actor, role: 'AGENT', actor, types: [type] })).secret
}

const clockWarnings = (server: TestServer): readonly string[] =>
  server
    .output()
    .split('\n')
    .filter((line) => line.includes('clock'))

/** Says which of its calls begin, and takes so many seconds for a run. */
const GADGET = `#!/bin/sh
mode=run
while [ $# -gt 0 ]; do case "$1" in --protocol*) ;; --getlocks|--undo|--abort) mode=\${1#--} ;; *) break ;; esac; shift; done
[ $mode = getlocks ] && exit 0
echo "$mode $1" >> "$GADGET_STATE/said"
[ $mode = run ] && echo "at work" >&2 && sleep "$2"
exit 0
`
async function openGadgets() {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-skew-'))
  await writeFile(join(folder, 'slow'), GADGET)
  await chmod(join(folder, 'slow'), 0o755)
  return {
    folder,
    said: async () => (await readFile(join(folder, 'said'), 'utf8').catch(() => '')).split('\n').filter(Boolean),
    /** A task of so many jobs at the same time. */
    task: async (client: Client, jobs: number, seconds: number) => {
      const env = [{ name: 'GADGET_STATE', value: folder }]
      const job = (name: string) => ({ name, gadget: 'slow', args: [name, String(seconds)], env, dependsOn: [] })
      const names = Array.from({ length: jobs }, (_, i) => `job-${i}`)
      const { id = '' } = await ask(client, MUTATIONS.createTask, { name: 'task', jobs: names.map(job) })
      return id
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
const hasEnded = (client: Client, id: string) =>
  until(async () => (await show(client, id))?.finished, { what: 'the task has ended' })

const offsetOf = async (origin: string): Promise<number> => {
  const headers = { authorization: `Bearer ${ADMINISTRATOR}` }
  const text = await (await fetch(`${origin}/metrics`, { headers })).text()
  return Number(/^phaseline_clock_offset_seconds (\S+)$/m.exec(text)?.[1])
}

describe('a clock that is wrong', () => {
  test('engines ahead run each job once and undo none, and say that they are', async () => {
    await using place = await openPlace()
    await using gadgets = await openGadgets()
    const { client, url } = await place.server('gateway')
    const engines: (readonly [TestServer, number])[] = []
    for (const ahead of [14, 20])
      engines.push([await place.server('gateway,engine', { clock: { offset: `+${ahead}s` } }), ahead])
    const token = await agentToken(client, 'GADGET_RUNNER', 'gadget-job')
    const runner = { types: ['gadget-job'], url, token, gadgetFolder: gadgets.folder, leaseMs: LEASE_MS }
    await using _runner = await startAgent(runner)
    const id = await gadgets.task(client, 4, 2)
    await hasEnded(client, id)
    expect((await gadgets.said()).toSorted()).toEqual(['run job-0', 'run job-1', 'run job-2', 'run job-3'])
    expect(await show(client, id)).toMatchObject({ phase: 'SUCCEEDED' })

    for (const [engine, ahead] of engines) {
      expect(await offsetOf(engine.origin)).toBeCloseTo(ahead, 0)
      const [received, ...more] = clockWarnings(engine)
      expect(JSON.parse(received ?? '')).toMatchObject({ level: 40, clockOffsetMs: expect.any(Number) })
      expect(more).toEqual([])
    }
  })

  test('a gateway hands out nothing that is under a lease, and what a dead agent had in due time', async () => {
    await using place = await openPlace()
    const right = await place.server('gateway,engine')
    const wrong = await place.server('gateway', { clock: { offset: SHIFTS[0] ?? '' } })
    const token = await agentToken(right.client, 'DEPLOYER', 'mock')
    await using one = createClient({ url: right.url, token })
    await using other = createClient({ url: wrong.url, token })
    await create(right.client, 'tree', items(2))
    const claim = async (client: Client, leaseMs: number, max = 1) => {
      const { items: found = [] } = await ask(client, CLAIM, { instance: 'i', types: ['mock'], leaseMs, max })
      return found
    }
    /** With the time from which on the lease may have run. */
    const claimed = async (client: Client, leaseMs: number, max: number) =>
      until(
        async () => {
          const since = performance.now()
          const found = await claim(client, leaseMs, max)
          return found.length > 0 ? { found, since } : null
        },
        { what: 'the work is offered again' },
      )
    // One is held all the time, and renewed by both; the other one changes its holder as holders die.
    const [held] = (await claimed(one, 15_000, 1)).found
    if (!held) throw new Error('nothing was offered')
    await claimed(one, 1_000, 1)
    let tried = 0
    for (const shift of SHIFTS) {
      wrong.setClock(shift)
      for (const [next, leaseMs] of [
        [other, 2_000],
        [one, 1_000],
      ] as const) {
        const { found, since } = await claimed(next, leaseMs, 2)
        expect(
          found.map(({ name }) => name),
          shift,
        ).not.toContain(held.name)
        // No agent gets it before its time, which may be over on a machine that stands still for so long.
        const early = await claim(next === one ? other : one, 1_000)
        if (performance.now() - since < leaseMs) {
          expect(early, shift).toEqual([])
          tried += 1
        }
        const { leases } = await ask(next, RENEW, { fences: [held.fence], leaseMs: 15_000 })
        expect(leases, shift).toEqual([{ state: 'HELD' }])
      }
    }
    expect(tried).toBeGreaterThan(0)
  })

  test.each(['+600s', '-600s'])('an engine at %s lets a deadline fire in due time', async (offset) => {
    await using place = await openPlace()
    const env = { PHASELINE_PICKUP_TIMEOUT_MS: '2000' }
    const { client } = await place.server('gateway', { env })
    await place.server('gateway,engine', { clock: { offset }, env })
    const since = performance.now()
    const id = await create(client, 'tree', items(1))
    await until(async () => (await show(client, id))?.finished, { what: 'its deadline has fired' })
    expect(performance.now() - since).toBeGreaterThan(1_900)
    expect(await show(client, id)).toMatchObject({ phase: 'FAILED' })
  })
})

describe.concurrent('a clock that is set while a job runs', () => {
  test.each(['the server', 'the agent'])("%s's: the job runs once, and is not undone", async (whose) => {
    await using place = await openPlace()
    await using gadgets = await openGadgets()
    const clock = { offset: '+600s' }
    const isServer = whose === 'the server'
    const server = await place.server('gateway,engine', isServer ? { clock } : {})
    const { client, url } = server
    const token = await agentToken(client, 'GADGET_RUNNER', 'gadget-job')
    const runner = { types: ['gadget-job'], url, token, gadgetFolder: gadgets.folder, leaseMs: LEASE_MS }
    await using agent = await startAgent({ ...runner, ...(isServer ? {} : { clock }) })
    const id = await gadgets.task(client, 1, 5)
    await until(async () => (await gadgets.said()).length > 0, { what: 'the job runs' })
    for (const shift of SHIFTS) {
      const stepped = isServer ? server : agent
      stepped.setClock(shift)
      await delay(900)
    }
    await hasEnded(client, id)
    expect(await gadgets.said()).toEqual(['run job-0'])
    expect(await show(client, id)).toMatchObject({ phase: 'SUCCEEDED' })
    const off = 'select abs(extract(epoch from now() - at))::float8 as s from log_line'
    for (const { s } of (await place.pool.query<{ s: number }>(off)).rows) expect(s).toBeLessThan(60)
    // Logged once for each change, not for each sample.
    expect(clockWarnings(server).length).toBeLessThanOrEqual(SHIFTS.length + 1)
  })
})

describe.concurrent('a process that stood still', () => {
  test('a server uses the real time: leases that were renewed elsewhere do not expire', async () => {
    await using place = await openPlace()
    await using gadgets = await openGadgets()
    const engine = await place.server('gateway,engine')
    const { client, url } = await place.server('gateway')
    const token = await agentToken(client, 'GADGET_RUNNER', 'gadget-job')
    const runner = { types: ['gadget-job'], url, token, gadgetFolder: gadgets.folder, leaseMs: LEASE_MS }
    await using _runner = await startAgent(runner)
    const id = await gadgets.task(client, 1, LEASE_MS / 1_000 + 4)
    await until(async () => (await gadgets.said()).length > 0, { what: 'the job runs' })
    const thaw = engine.freeze()
    await using _ = { [Symbol.asyncDispose]: async () => thaw() }
    await delay(LEASE_MS + 1_000)
    thaw()
    await hasEnded(client, id)
    expect(await gadgets.said()).toEqual(['run job-0'])
  })

  test('an agent learns that its work is lost, and its reports are refused', async () => {
    await using place = await openPlace()
    await using gadgets = await openGadgets()
    const { client, url } = await place.server('gateway,engine')
    const token = await agentToken(client, 'GADGET_RUNNER', 'gadget-job')
    const runner = { types: ['gadget-job'], url, token, gadgetFolder: gadgets.folder, leaseMs: LEASE_MS }
    await using frozen = await startAgent(runner)
    const id = await gadgets.task(client, 1, 3)
    await until(async () => (await gadgets.said()).length > 0, { what: 'the job runs' })
    const thaw = frozen.freeze()
    await using _ = { [Symbol.asyncDispose]: async () => thaw() }
    await using _other = await startAgent(runner)
    const runs = async () => (await gadgets.said()).filter((line) => line.startsWith('run'))
    await until(async () => (await runs()).length === 2, { what: 'another one runs it' })
    thaw()
    await hasEnded(client, id)
    // The frozen agent's claims may get work that it never begins; such work is undone as well.
    expect((await gadgets.said()).join()).toMatch(/^run job-0(,undo job-0)+,run job-0$/)
    expect(await show(client, id)).toMatchObject({ phase: 'SUCCEEDED' })
  })
})
