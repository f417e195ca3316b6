import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
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

test('changes are buffered while there are listeners, and for a while after, but not before the first one', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  const signal = createMemorySignal({ logger })
  const head = await readHead(pool)
  const numberer = createNumberer({ pool, signal, logger })
  onTestFinished(() => numberer[Symbol.asyncDispose]())
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
