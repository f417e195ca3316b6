import type { DetailsTable } from '../families/family.ts'
import type { Client } from '../store/client.ts'
import { writeChildCounts, writeDetails, writeEdges, writeSpecs, writeStatuses } from '../store/side-rows.ts'
import { deleteObjects, insertObjects, updateObjects } from '../store/transition.ts'
import { writeWork } from '../store/write-work.ts'
import type { TreeSlice } from './slice/tree-slice.ts'
import type { Part, TrackedObject } from './tracked-object.ts'

/**
 * Sends all unwritten changes of the slice in one go. Deletions come first, since a new object may take a deleted name.
 * Sent changes count as persisted: if one fails, so does the transaction.
 */
export function flush(client: Client, slice: TreeSlice, details: readonly DetailsTable[]): readonly Promise<unknown>[] {
  const tracked = unwritten(slice)
  if (tracked.length === 0) return []
  const gone = tracked.filter((tracked) => tracked.gone)
  const live = tracked.filter((tracked) => !tracked.gone)
  const sent = [...remove(client, gone, slice), ...write(client, live, slice, details)]
  for (const tracked of live) markPersisted(tracked)
  return sent
}

/** True if the slice changes no persisted object, so that no revision can conflict. */
export const onlyInserts = (slice: TreeSlice): boolean =>
  unwritten(slice).every(({ persisted, gone }) => !persisted && !gone)

const unwritten = (slice: TreeSlice): readonly TrackedObject[] =>
  [...slice.nodes.values()].filter((tracked) => tracked.gone || !tracked.persisted || tracked.dirty.size > 0)

function write(
  client: Client,
  live: readonly TrackedObject[],
  slice: TreeSlice,
  details: readonly DetailsTable[],
): readonly Promise<unknown>[] {
  for (const tracked of live) addRevision(tracked, slice.now)
  const written = (part: Part) => live.filter((tracked) => tracked.dirty.has(part))
  return [
    // A new row has all its transitions done. The guard in the database knows how far they can lead.
    insertObjects(
      client,
      live.filter((tracked) => !tracked.persisted).map(({ row }) => row),
    ),
    updateObjects(
      client,
      live.filter((tracked) => tracked.persisted && tracked.dirty.has('row')),
    ),
    writeSpecs(
      client,
      live.filter((tracked) => !tracked.persisted || tracked.dirty.has('spec')),
    ),
    ...details.map((table) =>
      writeDetails(
        client,
        table,
        live.filter(
          (tracked) => table.kinds.includes(tracked.row.kind) && (!tracked.persisted || tracked.dirty.has('details')),
        ),
      ),
    ),
    writeEdges(client, written('edges')),
    writeChildCounts(client, written('childCounts')),
    writeWork(client, written('work')),
    writeStatuses(client, written('status')),
  ]
}

/** Every visible write makes a revision, with or without a transition. Child counts are internal. */
function addRevision(tracked: TrackedObject, now: Date): void {
  const isVisible = [...tracked.dirty].some((part) => part !== 'childCounts')
  if (!(tracked.persisted && isVisible) || tracked.pendingTransitions.length > 0) return
  tracked.row = { ...tracked.row, revision: tracked.row.revision + 1, updatedAt: now }
  tracked.dirty.add('row')
}

function remove(client: Client, gone: readonly TrackedObject[], slice: TreeSlice): readonly Promise<unknown>[] {
  for (const tracked of gone) {
    slice.nodes.delete(tracked.row.id)
    slice.touched.delete(tracked)
  }
  return [
    updateObjects(
      client,
      gone.filter((tracked) => tracked.pendingTransitions.length > 0),
    ),
    deleteObjects(
      client,
      gone.map((tracked) => tracked.row.id),
    ),
    // Work outlives its object, so that a repeated last report finds it.
    writeWork(
      client,
      gone.filter((tracked) => tracked.dirty.has('work')),
    ),
  ]
}

function markPersisted(tracked: TrackedObject): void {
  tracked.persisted = true
  tracked.persistedRow = tracked.row
  tracked.persistedWork = tracked.work
  tracked.pendingTransitions = []
  tracked.offered = false
  tracked.dirty.clear()
}
