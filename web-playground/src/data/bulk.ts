import type { Client } from 'phaseline/client'
import { readPages } from 'phaseline/client-model'
import { type BulkPlan, planBulk, type Target, type Verb } from '../model/bulk.ts'
import { filterInput, type ObjectFilter } from '../model/filter.ts'
import { ROW_IDS, TARGETS } from './documents-bulk.ts'

/** The most objects that can be selected without scrolling to them. */
export const SELECT_LIMIT = 5_000
const PAGE = 500
const BATCH = 200

/** The ids of all matching objects, in their order; the first `SELECT_LIMIT` of them. */
export async function readIds(client: Client, filter: ObjectFilter, signal: AbortSignal): Promise<readonly string[]> {
  const { field, direction } = filter.order
  const read = await readPages(SELECT_LIMIT, async (_, after) => {
    const variables = { filter: filterInput(filter), orderBy: { field, direction }, first: PAGE, after }
    return (await client.query(ROW_IDS, variables, { signal })).objects
  })
  return (read?.nodes ?? []).slice(0, SELECT_LIMIT).map(({ id }) => id)
}

/** Plans a verb for the objects, as they are now. */
export async function readPlan(
  client: Client,
  verb: Verb,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<BulkPlan> {
  const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, i) => ids.slice(i * BATCH, (i + 1) * BATCH))
  const answers = await Promise.all(batches.map((batch) => client.query(TARGETS, { ids: batch }, { signal })))
  const found = answers.flatMap(({ nodes }) => nodes)
  const targets = found.filter((node) => node?.id !== undefined) as readonly Target[]
  return planBulk(verb, targets, ids.length - targets.length)
}
