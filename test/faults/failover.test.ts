import { expect, test } from 'vitest'
import type { Client, PhaseChange } from '../../src/client/index.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { expectLegal } from '../testkit/legal-log.ts'
import { create, show } from '../testkit/mutations.ts'
import { startOwnPostgres, startSwitch } from '../testkit/own-postgres.ts'
import { startRedis } from '../testkit/redis.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

const HEAD = gql('{ log { epoch head endCursor } }')
const EPOCH = gql('{ log { epoch } }')
const headOf = async (client: Client) => present((await client.query(HEAD)).log)

/** The records of a reader, and the cursors from which it resumed after its own was lost. */
interface Reader {
  readonly received: PhaseChange[]
  readonly lost: number[]
  readonly done: Promise<void>
}

/** Follows the whole log, and resumes by itself from the end of the common history. */
function follow(client: Client, signal: AbortSignal): Reader {
  const received: PhaseChange[] = []
  const lost: number[] = []
  const onExpired = ({ commonCursor, head }: { commonCursor: string; head: number }): string => {
    lost.push(head)
    // It may have the following records already.
    received.length = 0
    return commonCursor
  }
  const done = (async () => {
    for await (const { changes } of client.followPhases({ after: 0, signal, onExpired })) received.push(...changes)
  })()
  return { received, lost, done }
}

const item = (i: number) => ({ name: `item-${i}`, type: 'mock', config: { delayMs: 5 } })
const spec = { deployItems: Array.from({ length: 20 }, (_, i) => item(i)) }

async function wholeLog(client: Client): Promise<readonly PhaseChange[]> {
  const { head } = await headOf(client)
  const changes: PhaseChange[] = []
  for await (const batch of client.followPhases({ after: 0 })) {
    changes.push(...batch.changes)
    if (batch.through >= head) break
  }
  return changes
}

test.each([
  { what: 'a standby that is promoted', promoted: true },
  { what: 'a copy of the files that nothing tells apart', promoted: false },
])(
  'a failover, under two gateways with open streams and trees at work, to $what and has lost its tail',
  async ({ promoted }) => {
    await using stack = new AsyncDisposableStack()
    const original = stack.use(await startOwnPostgres())
    const address = stack.use(await startSwitch(original))
    const redis = stack.use(await startRedis())
    const token = 'failover-administrator-token'
    const env = {
      DATABASE_URL: address.url,
      REDIS_URL: redis.url,
      PHASELINE_TOKEN: token,
      PHASELINE_SECRET_KEY: SECRET_KEY,
      PHASELINE_LOG_LEVEL: 'fatal',
    }
    const one = stack.use(await startServer({ env, token }))
    // Its clock is wrong as well.
    const two = stack.use(await startServer({ env, token, clock: { offset: '+20s' } }))
    // It follows nothing, so it learns of the failover when it is asked.
    const quiet = stack.use(await startServer({ env: { ...env, PHASELINE_ROLES: 'gateway' }, token }))
    const stop = new AbortController()
    stack.defer(() => stop.abort())
    const readers = [one, two].map(({ client }) => follow(client, stop.signal))

    const kept = await create(one.client, 'kept', spec)
    await until(async () => (await show(two.client, kept))?.finished, { what: 'the first tree is done' })
    const early = await headOf(one.client)
    const start = await original.copy(promoted)
    const lost = await create(two.client, 'lost', spec)
    await until(async () => (await show(one.client, lost))?.finished, { what: 'the second tree is done' })
    const late = await headOf(one.client)
    expect(late.head).toBeGreaterThan(early.head + 20)
    await until(() => readers.every(({ received }) => received.length === late.head), {
      what: 'the readers are at the end',
    })
    // One more is on its way.
    const midway = await create(one.client, 'midway', spec)

    address.to(null)
    const copy = stack.use(await start())
    address.to(copy)
    const created: string[] = []
    let attempts = 0
    await until(
      async () => {
        // The answer may be of a connection that is just being cut, and its tree may be there all the same.
        const id = await create(two.client, `new-${attempts++}`, spec).catch(() => null)
        if (id !== null) created.push(id)
        return created.length === 8
      },
      { what: 'trees are created again' },
    )
    for (const id of created) {
      await until(async () => (await show(one.client, id))?.finished, { what: 'they are done' })
      expect(await show(two.client, id)).toMatchObject({ phase: 'SUCCEEDED' })
    }
    expect(await show(one.client, lost)).toBeNull()
    expect(await show(one.client, midway)).toBeNull()
    // That nothing tells it apart is found out by those who have read what is lost.
    if (!promoted) await until(async () => (await headOf(one.client)).epoch === 2, { what: 'the copy is recognised' })
    expect((await quiet.client.query(EPOCH)).log?.epoch).toBe(2)
    const now = await headOf(one.client)
    expect(now.head).toBeGreaterThan(late.head)
    expect(now.epoch).toBe(2)

    const log = await wholeLog(one.client)
    expectLegal(log)
    // A position that the copy has is accepted; a lost one is refused, even if the copy has another change there.
    const resume = async (after: string | number) => {
      for await (const batch of two.client.followPhases({ after })) return batch
      return null
    }
    expect((await resume(early.endCursor))?.changes[0]?.sequence).toBe(early.head + 1)
    await expect(resume(late.endCursor)).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })
    await expect(resume(late.head)).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })

    for (const reader of readers) {
      await until(() => reader.received.at(-1)?.sequence === log.at(-1)?.sequence, { what: 'the readers have gone on' })
      expect(reader.lost).toHaveLength(1)
      const first = reader.received[0]?.sequence ?? 0
      expect(reader.received).toEqual(log.slice(first - 1))
      // Nothing of what stands in the place of what was lost is missing.
      expect(first).toBeLessThanOrEqual(early.head + 1)
    }
    stop.abort()
    await Promise.all(readers.map(({ done }) => done))
  },
)
