import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { logChannel } from '../../src/log/announcement.ts'
import { readHead } from '../../src/log/head.ts'
import { Hub } from '../../src/log/hub.ts'
import { openLog } from '../../src/log/identity.ts'
import { createNumberer } from '../../src/log/numberer.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { createRoot, numbered, write } from './writer.ts'

const logger = pino({ level: 'silent' })
const QUERY = { projects: null, includeRejected: true } as const

async function opened() {
  const database = await createTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { pool } = database
  const signal = createMemorySignal({ logger })
  const numberer = createNumberer({ pool, signal, logger })
  onTestFinished(() => numberer[Symbol.asyncDispose]())
  return { pool, signal, numberer, head: await readHead(pool) }
}

test('changes are buffered while there are listeners, and for a while after, but not before the first one', async () => {
  const { pool, signal, head, numberer } = await opened()
  const hub = new Hub({ pool, signal, logger, numberer }, await openLog(pool), head)
  onTestFinished(() => hub.close())
  const root = await createRoot(pool)
  let written = head.sequence
  const tell = async (n: number) => {
    await write(pool, root, () => numbered(root, written + 1, n))
    written += n
    numberer.committed()
    await until(() => hub.live.through === written, { what: 'the hub has heard of it' })
  }

  await tell(5)
  expect(hub.live.after).toBe(written)

  const heard: number[] = []
  const listener = {
    offer: (changes: readonly { sequence: number }[]) => void heard.push(...changes.map(({ sequence }) => sequence)),
    tick: () => undefined,
    lost: () => undefined,
  }
  const joined = written
  hub.join(QUERY, listener)
  await tell(3)
  hub.leave(listener)
  // A listener that was cut off a moment ago still finds its changes.
  await tell(2)
  expect(hub.live.after).toBe(joined)
  expect(hub.live.read(QUERY, joined, 10).changes).toHaveLength(5)
  expect(heard).toEqual([joined + 1, joined + 2, joined + 3])
})

test('a process without listeners takes no announcement of others apart; with the first one it misses none', async () => {
  const { pool, signal, head, numberer } = await opened()
  const identity = await openLog(pool)
  let published = 0
  await signal.subscribe(logChannel(identity.logId), () => void published++)
  const hub = new Hub({ pool, signal, logger }, identity, head)
  onTestFinished(() => hub.close())
  const root = await createRoot(pool)
  let written = head.sequence
  const tell = async (n: number) => {
    const before = published
    await write(pool, root, () => numbered(root, written + 1, n))
    written += n
    numberer.committed()
    await until(() => published > before, { what: 'it is announced' })
  }

  await tell(2)
  expect(hub.stats.announcements).toBe(0)
  const heard: number[] = []
  hub.join(QUERY, {
    offer: (changes) => void heard.push(...changes.map(({ sequence }) => sequence)),
    tick: () => undefined,
    lost: () => undefined,
  })
  await tell(1)
  await until(() => heard.length === 3, { what: 'what was announced before, too' })
  const before = hub.stats.announcements
  await tell(1)
  expect(hub.stats.announcements).toBe(before + 1)
  await until(() => heard.length === 4, { what: 'the last change' })
  expect(heard).toEqual(Array.from({ length: 4 }, (_, i) => head.sequence + 1 + i))
})
