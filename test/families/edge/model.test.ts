import { expect, test } from 'vitest'
import { instances } from './model/instances.ts'
import { type Model, search } from './model/search.ts'
import { starts } from './model/starts.ts'
import { created, upgrades } from './model/upgrade.ts'

/**
 * A model check, exhaustive to the depth below: one cloudlet, one cluster instance, one app instance, the users and the CRM.
 * From a cloudlet with nothing, with a cluster instance, and with an app instance in it, every way that so many events can
 * take is followed: users ask for anything; messages are lost, repeated, late; the connection is cut; the CRM begins, ends
 * or fails, crashes and comes back with what is on its disk; deadlines pass; somebody is at the disk by hand. The record is
 * kept by the commands and the rules themselves; test/families/edge/model has the rest. A second search does the same with
 * the processes that serve a cloudlet alone, and its upgrades.
 *
 * EDGE_MODEL_DEPTH lets it go deeper. EDGE_MODEL_HARSHER=late,reorder adds what the protocol does not defend against so
 * far: a call of connectCrm that arrives when its CRM has long made another one, and requests for one object that overtake
 * each other, which one ordered stream does not let happen.
 */
const DEPTH = Number(process.env.EDGE_MODEL_DEPTH ?? 9)
const HARSHER = process.env.EDGE_MODEL_HARSHER ?? ''

test('the record and its real counterpart come together, whatever is lost, repeated, late or crashes', async () => {
  const limits = { told: 3, reorder: HARSHER.includes('reorder'), late: HARSHER.includes('late') }
  expect(await searched('instances', instances(limits), await starts(), DEPTH)).toBeNull()
}, 3_600_000)

test('an upgrade of a cloudlet comes to an end, whatever is lost, repeated, late or crashes', async () => {
  expect(await searched('upgrades', upgrades, [created()], DEPTH + 3)).toBeNull()
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
