import type { Client } from '../store/client.ts'
import type { Kinds } from './families.ts'
import type { TreeSlice } from './slice/tree-slice.ts'
import type { Part, TrackedObject } from './tracked-object.ts'

/** Sends all unwritten changes of the slices. Sent changes count as persisted: if one fails, so does the transaction. */
export function flush(
  client: Client,
  slices: readonly TreeSlice[],
  { rows }: Pick<Kinds, 'rows'>,
): readonly Promise<unknown>[] {
  const deleted: TrackedObject[] = []
  const live: TrackedObject[] = []
  for (const slice of slices)
    for (const tracked of unwritten(slice)) {
      if (tracked.gone) {
        deleted.push(tracked)
        slice.nodes.delete(tracked.row.id)
        slice.gone.push(tracked.row.id)
        slice.touched.delete(tracked)
      } else {
        addRevision(tracked, slice.now)
        live.push(tracked)
      }
    }
  if (deleted.length + live.length === 0) return []
  const written = (part: Part) => live.filter(({ dirty }) => dirty.has(part))
  const writtenOrNew = (part: Part) => live.filter(({ persisted, dirty }) => !persisted || dirty.has(part))
  const sent = rows.write(client, {
    deleted,
    inserted: live.filter(({ persisted }) => !persisted),
    updated: live.filter(({ persisted, dirty }) => persisted && dirty.has('row')),
    specs: writtenOrNew('spec'),
    details: writtenOrNew('details'),
    edges: written('edges'),
    childCounts: written('childCounts'),
    // Work outlives its object, so that a repeated last report finds it.
    work: [...written('work'), ...deleted.filter(({ dirty }) => dirty.has('work'))],
    clocks: written('clock'),
    statuses: written('status'),
  })
  for (const tracked of live) markPersisted(tracked)
  return sent
}

/** True if the slice changes no persisted object, so that no revision can conflict. */
export const onlyInserts = (slice: TreeSlice): boolean =>
  unwritten(slice).every(({ persisted, gone }) => !persisted && !gone)

const unwritten = (slice: TreeSlice): readonly TrackedObject[] =>
  [...slice.nodes.values()].filter((tracked) => tracked.gone || !tracked.persisted || tracked.dirty.size > 0)

/** Every visible write makes a revision, with or without a transition. Child counts are internal. */
function addRevision(tracked: TrackedObject, now: Date): void {
  const isVisible = [...tracked.dirty].some((part) => part !== 'childCounts')
  if (!(tracked.persisted && isVisible) || tracked.pendingTransitions.length > 0) return
  tracked.row = { ...tracked.row, revision: tracked.row.revision + 1, updatedAt: now }
  tracked.dirty.add('row')
}

function markPersisted(tracked: TrackedObject): void {
  tracked.persisted = true
  tracked.persistedRow = tracked.row
  tracked.persistedWork = tracked.work
  tracked.pendingTransitions = []
  tracked.offered = false
  tracked.dirty.clear()
}
