import type { Pool, PoolClient } from 'pg'
import { expect } from 'vitest'
import { acquire, type LockRequest, release } from '../../../src/families/operations/store/locks.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')

export async function within<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

export interface Planned {
  readonly id: string
  readonly locks: readonly LockRequest[]
  readonly luck: number
}

// Conflicting pairs, found from the rows as in the specification.
const CONFLICT = `a.resource = b.resource and a.ticket < b.ticket and 'EXCLUSIVE' in (a.mode, b.mode)`
const VIOLATIONS = `select 'two holders' as what, b.object_id from lock a join lock b on ${CONFLICT} and a.held and b.held
  union all
  select 'overtaken, part held, or forgotten', w.object_id from (
    select object_id, bool_and(held) as held, bool_or(held) as part from lock group by object_id
  ) w where w.part <> w.held or w.held = exists (select from lock a join lock b on ${CONFLICT} where b.object_id = w.object_id)`

/** Jobs that come, are granted, end or are cancelled, by several workers at the same time. */
export class Crowd {
  readonly rootsToWake: string[] = []
  readonly #pool: Pool
  readonly #plan: readonly Planned[]
  readonly #granted = new Map<string, number>()
  readonly #tickets = new Map<string, number>()
  readonly #cancelled = new Set<string>()
  readonly #running: Planned[] = []
  readonly #waiting = new Map<string, Planned>()
  #next = 0
  #steps = 0
  #busy = 0
  #isBroken = false

  constructor(pool: Pool, plan: readonly Planned[]) {
    this.#pool = pool
    this.#plan = plan
  }

  async run(workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, () => this.#work()))
  }

  async #work(): Promise<void> {
    for (let act = this.#choose(); act !== null; act = this.#choose()) {
      // Another worker's next action may unblock this one.
      if (act === 'rest') await new Promise((resolve) => setTimeout(resolve, 1))
      else await this.#do(act)
    }
  }

  async #do(act: () => Promise<void>): Promise<void> {
    this.#busy += 1
    try {
      await act()
    } catch (error) {
      this.#isBroken = true
      throw error
    } finally {
      this.#busy -= 1
    }
  }

  /** Null: this worker has nothing more to do. */
  #choose(): (() => Promise<void>) | 'rest' | null {
    if (this.#isBroken) return null
    const luck = this.#plan[this.#steps++ % this.#plan.length]?.luck ?? 0
    const next = this.#plan[this.#next]
    const mayCome = next && this.#running.length + this.#waiting.size < 60
    if (mayCome && (luck % 2 === 0 || this.#running.length === 0)) {
      this.#next += 1
      return () => this.#come(next)
    }
    const [weary] = luck % 25 === 1 ? this.#waiting.values() : []
    if (weary) {
      this.#waiting.delete(weary.id)
      return () => this.#end(weary, true)
    }
    const [ending] = this.#running.splice(luck % Math.max(1, this.#running.length), 1)
    if (ending) return () => this.#end(ending, false)
    if (this.#busy > 0) return 'rest'
    if (this.#waiting.size > 0) throw new Error(`a deadlock of ${this.#waiting.size}`)
    return null
  }

  async #come(job: Planned): Promise<void> {
    await within(this.#pool, async (client) => {
      const held = await acquire(client, { objectId: job.id, locks: job.locks, now: NOW })
      const { rows } = await client.query<{ ticket: number }>('select distinct ticket from lock where object_id = $1', [
        job.id,
      ])
      expect(rows).toHaveLength(1)
      this.#tickets.set(job.id, rows[0]?.ticket ?? Number.NaN)
      await this.#checkRows(client)
      // Before the commit: nobody else can be granted anything meanwhile, so this is the order of the grants.
      if (held) this.#grant(job)
      else this.#waiting.set(job.id, job)
    })
  }

  async #end(job: Planned, isWaiting: boolean): Promise<void> {
    await within(this.#pool, async (client) => {
      const rootsToWake = await release(client, [job.id], NOW)
      // It may have been granted while its cancellation waited for the lock.
      if (isWaiting && !this.#granted.has(job.id)) this.#cancelled.add(job.id)
      await this.#checkRows(client)
      for (const { objectId } of rootsToWake) {
        this.rootsToWake.push(objectId)
        const found = this.#plan.find(({ id }) => id === objectId)
        if (!found) throw new Error(`${objectId} is nobody`)
        this.#grant(found)
      }
    })
  }

  #grant(job: Planned): void {
    expect(this.#granted.has(job.id)).toBe(false)
    this.#granted.set(job.id, this.#granted.size)
    const wasHere = this.#waiting.delete(job.id)
    if (wasHere || !this.rootsToWake.includes(job.id)) this.#running.push(job)
  }

  async #checkRows(client: PoolClient): Promise<void> {
    expect((await client.query(VIOLATIONS)).rows).toEqual([])
  }

  /** All jobs ran, and none before an earlier one that conflicts with it. */
  check(): void {
    for (const { id } of this.#plan) expect(this.#granted.has(id) || this.#cancelled.has(id)).toBe(true)
    expect(this.rootsToWake.length).toBeGreaterThan(100)
    const order = this.#plan
      .filter(({ id }) => this.#granted.has(id))
      .toSorted((a, b) => (this.#tickets.get(a.id) ?? 0) - (this.#tickets.get(b.id) ?? 0))
    const last = new Map<string, number>()
    for (const { id, locks } of order) {
      const turn = this.#granted.get(id) ?? Number.NaN
      for (const { resource, mode } of locks) {
        const before = mode === 'EXCLUSIVE' ? ['SHARED', 'EXCLUSIVE'] : ['EXCLUSIVE']
        for (const kind of before) expect(last.get(`${kind} ${resource}`) ?? -1).toBeLessThan(turn)
      }
      for (const { resource, mode } of locks)
        last.set(`${mode} ${resource}`, Math.max(turn, last.get(`${mode} ${resource}`) ?? -1))
    }
  }
}
