import type { FactsTable } from '../families/family.ts'
import type { Client } from '../store/client.ts'
import {
  deleteObjects,
  insertObjects,
  updateObjects,
  writeEdges,
  writeFacts,
  writeSpecs,
  writeStatuses,
  writeTallies,
  writeWork,
} from '../store/transition.ts'
import type { Draft, Part } from './draft.ts'
import type { TreeSlice } from './slice.ts'

/**
 * Brings the store up to date with the slice, within the transaction: all in one go, what is gone first, since its name
 * may be taken again. What is sent counts as stored, since without it there is no transaction.
 */
export function flush(client: Client, slice: TreeSlice, facts: readonly FactsTable[]): readonly Promise<unknown>[] {
  const drafts = unwritten(slice)
  if (drafts.length === 0) return []
  const gone = drafts.filter((draft) => draft.gone)
  const live = drafts.filter((draft) => !draft.gone)
  const sent = [...remove(client, gone, slice), ...write(client, live, slice, facts)]
  for (const draft of live) settle(draft)
  return sent
}

/** Nothing that is there already is going to be written: nobody else can have written it meanwhile. */
export const onlyInserts = (slice: TreeSlice): boolean => unwritten(slice).every(({ stored, gone }) => !stored && !gone)

const unwritten = (slice: TreeSlice): readonly Draft[] =>
  [...slice.nodes.values()].filter((draft) => draft.gone || !draft.stored || draft.dirty.size > 0)

function write(
  client: Client,
  live: readonly Draft[],
  slice: TreeSlice,
  facts: readonly FactsTable[],
): readonly Promise<unknown>[] {
  for (const draft of live) noteWrite(draft, slice.now)
  const written = (part: Part) => live.filter((draft) => draft.dirty.has(part))
  return [
    // With all its hops done: the database knows how far it can have come.
    insertObjects(
      client,
      live.filter((draft) => !draft.stored).map(({ row }) => row),
    ),
    updateObjects(
      client,
      live.filter((d) => d.stored && d.dirty.has('row')),
    ),
    writeSpecs(
      client,
      live.filter((d) => !d.stored || d.dirty.has('spec')),
    ),
    ...facts.map((table) =>
      writeFacts(
        client,
        table,
        live.filter((d) => table.kinds.includes(d.row.kind) && (!d.stored || d.dirty.has('facts'))),
      ),
    ),
    writeEdges(client, written('edges')),
    writeTallies(client, written('tally')),
    writeWork(client, written('work')),
    writeStatuses(client, written('status')),
  ]
}

/** Every write makes a revision, whether or not it moves a phase; only a parent's counters are nobody's business. */
function noteWrite(draft: Draft, now: Date): void {
  const shown = [...draft.dirty].some((part) => part !== 'tally')
  if (!(draft.stored && shown) || draft.hops.length > 0) return
  draft.row = { ...draft.row, revision: draft.row.revision + 1, updatedAt: now }
  draft.dirty.add('row')
}

function remove(client: Client, gone: readonly Draft[], slice: TreeSlice): readonly Promise<unknown>[] {
  for (const draft of gone) {
    slice.nodes.delete(draft.row.id)
    slice.touched.delete(draft)
  }
  return [
    updateObjects(
      client,
      gone.filter((draft) => draft.hops.length > 0),
    ),
    deleteObjects(
      client,
      gone.map((draft) => draft.row.id),
    ),
    // Work outlives its object, so that a repeated last report finds it.
    writeWork(
      client,
      gone.filter((d) => d.dirty.has('work')),
    ),
  ]
}

function settle(draft: Draft): void {
  draft.stored = true
  draft.storedRow = draft.row
  draft.storedWork = draft.work
  draft.hops = []
  draft.offered = false
  draft.dirty.clear()
}
