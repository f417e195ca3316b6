import { expect, test } from 'vitest'
import { soak } from '../../testkit/soak.ts'
import { instances } from './model/instances.ts'
import { type Model, search } from './model/search.ts'
import { starts } from './model/starts.ts'
import { created, upgrades } from './model/upgrade.ts'

/**
 * A model check, exhaustive to the depth below: one cloudlet, one cluster instance, one app instance, the users and the CRM.
 * Searches begin at a cloudlet with nothing, with a cluster instance, and with an app instance in it, and follow every
 * sequence of events: users request anything; reports are lost, repeated, overtaken; requests are lost; the connection is
 * cut; the CRM begins, ends or fails, crashes and returns with the state of its disk; deadlines pass; somebody changes the
 * disk by hand. The commands and the rules themselves keep the record. A last search does the same with the processes that
 * serve a cloudlet, and its upgrades.
 *
 * Requests for one object arrive in their order, as by one stream. If they overtake each other, a CRM cannot tell which one
 * is newer: the outcome is right if the CRM begins nothing before its first report is accepted, and wrong otherwise.
 *
 * The long form goes deeper: 400,000 states in the first search, a minute.
 */
const DEPTH = soak(6, 10)
const LIMITS = { reports: 3, reorder: false, late: false }

test('the record and the real instance converge, whatever is lost, repeated, overtaken or crashes', async () => {
  const model = instances(LIMITS)
  expect(await searched('instances', model, await starts(), DEPTH)).toBeNull()
}, 3_600_000)

test('they do, too, when a CRM connects and its call takes longer than it waits', async () => {
  const model = instances({ ...LIMITS, late: true })
  expect(await searched('instances, slow calls', model, await starts(), DEPTH - 1)).toBeNull()
}, 3_600_000)

test('they do, too, when requests overtake each other, for a CRM that asks before it begins', async () => {
  const model = instances({ ...LIMITS, reorder: true })
  expect(await searched('instances, overtaken requests', model, await starts(), DEPTH)).toBeNull()
}, 3_600_000)

test('an upgrade of a cloudlet ends, whatever is lost, repeated, overtaken or crashes', async () => {
  expect(await searched('upgrades', upgrades, [created()], DEPTH + 4)).toBeNull()
}, 3_600_000)

async function searched<S>(name: string, model: Model<S>, from: readonly S[], depth: number): Promise<string | null> {
  const begun = performance.now()
  const { states, quiet, transitions, violation } = await search(model, from, depth)
  const seconds = Math.round((performance.now() - begun) / 1_000)
  console.log(
    `edge model, ${name}: all ${states} states to depth ${depth} (${quiet} quiet), by ${transitions} transitions, in ${seconds} s`,
  )
  return violation
}
