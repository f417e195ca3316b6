import { expect, test } from 'vitest'
import { search } from './model/search.ts'
import { starts } from './model/starts.ts'

/**
 * A model check, exhaustive to the depth below: one cloudlet, one cluster instance, one app instance, the users and the CRM.
 * From a cloudlet with nothing, with a cluster instance, and with an app instance in it, every way that so many events can
 * take is followed: users ask for anything; messages are lost, repeated, late; the connection is cut; the CRM begins, ends
 * or fails, crashes and comes back with what is on its disk; deadlines pass; somebody is at the disk by hand. The record is
 * kept by the commands and the rules themselves; test/families/edge/model has the rest.
 *
 * EDGE_MODEL_DEPTH lets it go deeper. EDGE_MODEL_HARSHER=late,reorder adds what the protocol does not defend against so
 * far: a call of connectCrm that arrives when its CRM has long made another one, and requests for one object that overtake
 * each other, which one ordered stream does not let happen.
 */
const DEPTH = Number(process.env.EDGE_MODEL_DEPTH ?? 9)
const HARSHER = process.env.EDGE_MODEL_HARSHER ?? ''

test('the record and its real counterpart come together, whatever is lost, repeated, overtaken or crashes', async () => {
  const begun = performance.now()
  const limits = { told: 3, reorder: HARSHER.includes('reorder'), late: HARSHER.includes('late') }
  const { states, quiet, transitions, violation } = await search(await starts(), limits, DEPTH)
  const seconds = Math.round((performance.now() - begun) / 1_000)
  console.log(
    `edge model: all ${states} states to depth ${DEPTH} (${quiet} quiet), by ${transitions} transitions, in ${seconds} s`,
  )
  expect(violation).toBeNull()
}, 3_600_000)
