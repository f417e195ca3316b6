import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from 'redis'
import type { PeerOptions } from '../harness-peer.ts'
import { Barrier, type LockContestant, serveLocks } from '../lock-peer.ts'

/** The lock of Redis's documentation: SET NX PX with a random value, and a script that deletes it if it still has that value. */

const KEY = `host-${randomUUID()}`
const LEASE_MS = 30_000
const UNLOCK = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`
/** As libraries do that implement Redlock. */
const RETRY = { ms: 200, jitter: 100 }

await serveLocks(open)

async function open({ url }: PeerOptions): Promise<LockContestant> {
  const client = createClient({ url })
  await client.connect()
  const barrier = new Barrier()
  let isOver = false
  const held = Promise.withResolvers<void>()
  const stay = async (): Promise<void> => {
    const value = randomUUID()
    while (!isOver) {
      const taken = await client.set(KEY, value, { condition: 'NX', expiration: { type: 'PX', value: LEASE_MS } })
      if (taken !== null) {
        held.resolve()
        await barrier.pass()
        const deleted = await client.eval(UNLOCK, { keys: [KEY], arguments: [value] })
        if (deleted !== 1) throw new Error('the lease had ended')
      }
      // Also after giving it back: a client that asked again at once would always win.
      await delay(RETRY.ms + (Math.random() * 2 - 1) * RETRY.jitter)
    }
  }
  return {
    async wait(waiters) {
      for (let i = 0; i <= waiters; i++) stay().catch((error: unknown) => isOver || Promise.reject(error))
      await held.promise
    },
    grant: (count) => barrier.admit(count),
    [Symbol.asyncDispose]() {
      isOver = true
      client.destroy()
      return Promise.resolve()
    },
  }
}
