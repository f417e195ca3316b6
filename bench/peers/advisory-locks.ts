import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { PeerOptions } from '../harness-peer.ts'
import { Barrier, type LockContestant, serveLocks } from '../lock-peer.ts'

/** A session for each waiter: sessions hold advisory locks and wait for them. */

const NAME = 'advisory-locks'
const WAITING = `select count(*)::integer as n from pg_locks where locktype = 'advisory' and not granted`

await serveLocks(open)

async function open({ url }: PeerOptions): Promise<LockContestant> {
  const barrier = new Barrier()
  const connect = async (name: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url, application_name: name })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const observer = await connect('observer')
  let isOver = false
  const take = async (session: pg.Client): Promise<void> => {
    for (;;) {
      await session.query({ name: 'lock', text: 'select pg_advisory_lock(1)' })
      await barrier.pass()
      await session.query({ name: 'unlock', text: 'select pg_advisory_unlock(1)' })
    }
  }
  return {
    async wait(waiters) {
      for (let i = 0; i <= waiters; i++) {
        take(await connect(NAME)).catch((error: unknown) => {
          if (!isOver) throw error
        })
      }
      while ((await observer.query<{ n: number }>(WAITING)).rows[0]?.n !== waiters) await delay(10)
    },
    grant: (count) => barrier.admit(count),
    async [Symbol.asyncDispose]() {
      isOver = true
      await observer.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [NAME])
      await observer.end()
    },
  }
}
