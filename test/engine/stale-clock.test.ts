import { expect, test } from 'vitest'
import { systemOf } from '../../src/system.ts'
import { until } from '../testkit/wait.ts'
import { createWorld, DEPLOYER, item } from '../testkit/world.ts'

/** The clock of a process whose machine was suspended, before it reads the database's clock again. */
const wrongBy = (ms: number) => systemOf({ now: () => new Date(Date.now() + ms) })
/** A lease is given, at the latest, when the answer is there; the clocks of the test and of the database are the same. */
const NEAR_MS = 500
const LEASE_MS = 5_000
const RENEWED_MS = 6_000

test.each([-600_000, -20_000, 20_000, 600_000])(
  'objects are created, leases given, renewed and judged by the time of the database, whatever a process believes: wrong by %i ms',
  async (ms) => {
    await using world = await createWorld({ system: wrongBy(ms) })
    const { agents } = world.engineHost
    // The project is known the second time: the transaction with the wrong time is rolled back and repeated.
    const ids = [
      await world.create('empty', { deployItems: [] }),
      await world.create('tree', { deployItems: [item('only')] }),
    ]
    const created = 'select from object where id = any($1::uuid[]) and abs(extract(epoch from now() - created_at)) < 1'
    expect((await world.pool.query(created, [ids])).rowCount).toBe(2)
    const request = { instance: 'i', types: ['mock'], targets: null, max: 1, leaseMs: LEASE_MS, waitMs: 2_000 }
    const begun = performance.now()
    const before = Date.now()
    const claimed = await agents.claim(DEPLOYER, request)
    if (!claimed.ok || !claimed.items[0]) throw new Error('nothing was claimed')
    // The agent reckons by it: a lease must not seem to begin later than it did.
    expect(claimed.waitedMs).toBeLessThanOrEqual(performance.now() - begun)
    const [{ fence, leaseUntil }] = claimed.items
    expect(leaseUntil.getTime()).toBeGreaterThan(before + LEASE_MS - NEAR_MS)
    expect(leaseUntil.getTime()).toBeLessThan(Date.now() + LEASE_MS + NEAR_MS)
    expect(await world.claim()).toEqual([])
    expect(await agents.waiting(DEPLOYER, ['mock'], null)).toEqual([])

    const beforeRenewal = Date.now()
    const renewed = await agents.renew(DEPLOYER, [fence], RENEWED_MS)
    if (!renewed.ok) throw new Error('it was not renewed')
    const renewedUntil = renewed.leases[0]?.leaseUntil?.getTime() ?? 0
    expect(renewedUntil).toBeGreaterThan(beforeRenewal + RENEWED_MS - NEAR_MS)
    expect(renewedUntil).toBeLessThan(Date.now() + RENEWED_MS + NEAR_MS)
    expect(await world.claim()).toEqual([])

    const [again] = await until(async () => ((found) => (found.length > 0 ? found : null))(await world.claim()), {
      what: 'the work is offered again',
    })
    expect(Date.now()).toBeGreaterThanOrEqual(renewedUntil)
    expect(again).toMatchObject({ name: 'only', attempt: 2 })
  },
)
