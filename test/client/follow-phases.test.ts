import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { startTinyServer } from './tiny-server.ts'

const TOKEN = 'secret'
const SDL = `
  scalar Sequence
  input PhaseChangeFilter { project: String }
  type PhaseChange {
    sequence: Sequence! cursor: String! objectId: ID kind: String name: String path: String rootId: ID projectName: String machine: String
    from: String to: String actor: String by: String reason: String message: String jobId: ID revision: Int
    rejected: Boolean at: String
  }
  type PhaseLogBatch { through: Sequence! cursor: String! changes: [PhaseChange!]! }
  type Query { x: Int }
  type Subscription { phaseLog(filter: PhaseChangeFilter, after: Sequence!, maxBatch: Int! = 500): PhaseLogBatch! }
`
const OLDEST = 10
/** Opaque to the client; the number is in it for this server. */
const cursorAt = (sequence: number): string => `${sequence}.0`

/** A log that grows all the time, served in batches of different sizes. */
function growingLog(batchMs = 1) {
  let head = OLDEST
  let closed = false
  const grow = setInterval(() => {
    head += 7
  }, 1)
  async function* phaseLog({ after: place, maxBatch }: { after: string | number; maxBatch: number }) {
    const after = Number(place)
    if (after < OLDEST) {
      const cursors = { startCursor: cursorAt(OLDEST), endCursor: cursorAt(head), commonCursor: cursorAt(head) }
      throw Object.assign(new Error('Gone.'), {
        extensions: { code: 'CURSOR_EXPIRED', oldest: OLDEST, head, ...cursors },
      })
    }
    for (let cursor = after; !closed; ) {
      const through = Math.min(head, cursor + maxBatch)
      // Only odd ones match, so that a batch may hold nothing and move on all the same.
      const changes = Array.from({ length: through - cursor }, (_, i) => cursor + 1 + i)
        .filter((sequence) => sequence % 2 === 1)
        .map((sequence) => ({ sequence, cursor: cursorAt(sequence), to: 'READY' }))
      if (through > cursor) yield { phaseLog: { through, cursor: cursorAt(through), changes } }
      cursor = through
      await sleep(batchMs)
    }
  }
  const dispose = (): void => {
    closed = true
    clearInterval(grow)
  }
  return { rootValue: { phaseLog }, [Symbol.dispose]: dispose }
}

describe('followPhases', () => {
  it('has neither gap nor repetition when connections are cut and the server is replaced', async () => {
    using log = growingLog()
    const options = { sdl: SDL, rootValue: log.rootValue, token: TOKEN }
    let server = await startTinyServer(options)
    await using client = createClient({ url: server.url, token: TOKEN })
    const seen: number[] = []
    let batches = 0
    for await (const { changes, through } of client.followPhases({ after: OLDEST, maxBatch: 20 })) {
      seen.push(...changes.map(({ sequence }) => sequence))
      expect(changes.every(({ sequence }) => sequence <= through)).toBe(true)
      batches += 1
      if (batches % 50 === 0) server.cut()
      if (batches === 120) {
        const { port } = server
        await server[Symbol.asyncDispose]()
        server = await startTinyServer({ ...options, port })
      }
      if (batches === 300) break
    }
    await server[Symbol.asyncDispose]()
    expect(seen.length).toBeGreaterThan(500)
    expect(seen).toEqual(seen.map((_, i) => OLDEST + 1 + 2 * i))
  })

  it('drops its buffer when it is read too slowly, and resumes after its cursor', async () => {
    using log = growingLog()
    await using server = await startTinyServer({ sdl: SDL, rootValue: log.rootValue, token: TOKEN })
    await using client = createClient({ url: server.url, token: TOKEN })
    const seen: number[] = []
    for await (const { changes } of client.followPhases({ after: OLDEST, maxBatch: 5 })) {
      seen.push(...changes.map(({ sequence }) => sequence))
      if (seen.length > 400) break
      if (seen.length < 100) await sleep(20)
    }
    expect(seen).toEqual(seen.map((_, i) => OLDEST + 1 + 2 * i))
  })

  it('fails for good when its cursor has expired, or its token is invalid', async () => {
    using log = growingLog()
    await using server = await startTinyServer({ sdl: SDL, rootValue: log.rootValue, token: TOKEN })
    await using client = createClient({ url: server.url, token: TOKEN })
    const expired = async () => {
      for await (const _ of client.followPhases({ after: 1 })) throw new Error('unexpected')
    }
    await expect(expired()).rejects.toMatchObject({ code: 'CURSOR_EXPIRED', extensions: { oldest: OLDEST } })
    let received = 0
    const from = await client
      .followPhases({
        after: 1,
        onExpired: ({ oldest, startCursor }) => {
          received = oldest
          return startCursor
        },
      })
      [Symbol.asyncIterator]()
      .next()
    expect(received).toBe(OLDEST)
    expect(from.value?.through).toBeGreaterThan(OLDEST)
    await using stranger = createClient({ url: server.url, token: 'wrong' })
    const refused = async () => {
      for await (const _ of stranger.followPhases({ after: OLDEST })) throw new Error('unexpected')
    }
    await expect(refused()).rejects.toMatchObject({ kind: 'unauthorized', retryable: false })
  })

  it('ends quietly with the signal or the client, while connecting too, and shares one socket', async () => {
    using log = growingLog(1_000)
    await using server = await startTinyServer({ sdl: SDL, rootValue: log.rootValue, token: TOKEN })
    const client = createClient({ url: server.url, token: TOKEN })
    const stop = new AbortController()
    const follow = async (signal?: AbortSignal) => {
      let batches = 0
      for await (const _ of client.followPhases({ after: OLDEST, ...(signal ? { signal } : {}) })) {
        batches += 1
        stop.abort()
      }
      return batches
    }
    const [bySignal, byClient] = [follow(stop.signal), follow()]
    expect(await bySignal).toBeGreaterThan(0)
    await client.close()
    await byClient
    expect(server.socketsOpened).toBe(1)

    const lonely = createClient({ url: 'http://127.0.0.1:1/graphql', token: TOKEN })
    const waiting = lonely.followPhases({ after: 0 })[Symbol.asyncIterator]().next()
    await lonely.close()
    expect(await waiting).toMatchObject({ done: true })
  })
})
