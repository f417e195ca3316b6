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

/** Brings the store up to date with the slice, within the transaction. What is gone goes first: its name may be taken again. */
export async function flush(client: Client, slice: TreeSlice, facts: readonly FactsTable[]): Promise<void> {
  const drafts = [...slice.nodes.values()].filter((draft) => draft.gone || !draft.stored || draft.dirty.size > 0)
  if (drafts.length === 0) return
  const gone = drafts.filter((draft) => draft.gone)
  const live = drafts.filter((draft) => !draft.gone)
  const fresh = live.filter((draft) => !draft.stored)
  for (const draft of live) noteWrite(draft, slice.now)
  await remove(client, gone, slice)
  await insertObjects(client, fresh.map(asCreated))
  await updateObjects(
    client,
    live.filter((d) => (d.stored ? d.dirty.has('row') : d.hops.length > 0)),
  )
  const written = (part: Part) => live.filter((draft) => draft.dirty.has(part))
  await writeSpecs(
    client,
    live.filter((d) => !d.stored || d.dirty.has('spec')),
  )
  for (const table of facts) {
    const of = live.filter((d) => d.row.kind === table.kind && (!d.stored || d.dirty.has('facts')))
    await writeFacts(client, table, of)
  }
  await writeEdges(client, written('edges'))
  await writeTallies(client, written('tally'))
  await writeWork(client, written('work'))
  await writeStatuses(client, written('status'))
  for (const draft of live) settle(draft)
}

/** Every write makes a revision, whether or not it moves a phase; only a parent's counters are nobody's business. */
function noteWrite(draft: Draft, now: Date): void {
  const shown = [...draft.dirty].some((part) => part !== 'tally')
  if (!(draft.stored && shown) || draft.hops.length > 0) return
  draft.row = { ...draft.row, revision: draft.row.revision + 1, updatedAt: now }
  draft.dirty.add('row')
}

/** A new object stands in the store first as it was created: every hop after that is an update the database can judge. */
function asCreated(draft: Draft) {
  if (draft.hops.length === 0) return draft.row
  const { row } = draft
  return { ...row, phase: draft.initial, phaseSince: row.createdAt, revision: 1 }
}

async function remove(client: Client, gone: readonly Draft[], slice: TreeSlice): Promise<void> {
  await updateObjects(
    client,
    gone.filter((draft) => draft.hops.length > 0),
  )
  await deleteObjects(
    client,
    gone.map((draft) => draft.row.id),
  )
  // Work outlives its object, so that a repeated last report finds it.
  await writeWork(
    client,
    gone.filter((d) => d.dirty.has('work')),
  )
  for (const draft of gone) {
    slice.nodes.delete(draft.row.id)
    slice.touched.delete(draft)
  }
}

function settle(draft: Draft): void {
  draft.stored = true
  draft.storedRevision = draft.row.revision
  draft.hops = []
  draft.offered = false
  draft.dirty.clear()
}
