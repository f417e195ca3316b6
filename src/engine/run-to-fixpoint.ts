import { awaitAll } from '../store/await-all.ts'
import type { Client } from '../store/client.ts'
import type { Kinds } from './families.ts'
import { flush } from './flush.ts'
import { answer, fillNeighbours } from './load.ts'
import type { Release, TreeSlice } from './slice/tree-slice.ts'
import type { TrackedObject } from './tracked-object.ts'

/** A tree that takes more looks than this in one transaction is going in circles. */
const MAX_LOOKS = 1_000_000

/**
 * Lets every touched object decide until nothing is left to do, or the budget of phase writes is spent.
 * Rules are pure; what they ask for is loaded between the rounds. Returns ids that still want their turn.
 */
export async function runToFixpoint(
  client: Client,
  slice: TreeSlice,
  kinds: Kinds,
  budget: number,
): Promise<ReadonlySet<string>> {
  const left = new Set<string>()
  for (;;) {
    decideTouched(slice, kinds, budget)
    await count(client, slice, kinds)
    if (slice.touched.size > 0 && slice.moves < budget) continue
    const open = slice.questions.take()
    if (slice.moves >= budget) {
      for (const tracked of [...slice.touched, ...open.flatMap(({ askers }) => [...askers])])
        if (!tracked.gone) left.add(tracked.row.id)
      break
    }
    if (open.length === 0) break
    // A condition is judged by the database, so it must know first what has been decided.
    await awaitAll([
      ...flush(client, slice, kinds.details),
      answer(
        client,
        slice,
        kinds,
        open.map(({ question }) => question),
      ),
    ])
    for (const { askers } of open) for (const asker of askers) slice.touch(asker)
  }
  for (const { objectId } of slice.evaluations.values()) left.add(objectId)
  return left
}

function decideTouched(slice: TreeSlice, kinds: Kinds, budget: number): void {
  for (const tracked of slice.touched) {
    if (slice.moves >= budget) return
    slice.touched.delete(tracked)
    if (++slice.looks > MAX_LOOKS) throw new Error(`tree ${slice.root.row.name} does not come to rest`)
    if (!tracked.gone) slice.look(tracked, () => kinds.family(tracked.row.kind).decide(tracked, slice))
  }
}

/** Counts what was released off those who wait for it; whoever waits for nothing more has its turn. */
async function count(client: Client, slice: TreeSlice, kinds: Kinds): Promise<void> {
  while (slice.releases.length > 0) {
    const releases = slice.releases
    slice.releases = []
    if ([...slice.nodes.values()].some((tracked) => tracked.dirty.has('edges') || !tracked.persisted)) {
      await flushEdges(client, slice, kinds)
    }
    for (const side of ['dependents', 'dependencies'] as const) {
      await countSide(
        client,
        slice,
        kinds,
        side,
        releases.filter((release) => release.side === side),
      )
    }
  }
}

/** Edges of this transaction must be in the store before they are followed; what is gone must still be there. */
async function flushEdges(client: Client, slice: TreeSlice, kinds: Kinds): Promise<void> {
  if (![...slice.nodes.values()].some((tracked) => tracked.gone)) await awaitAll(flush(client, slice, kinds.details))
}

async function countSide(
  client: Client,
  slice: TreeSlice,
  kinds: Kinds,
  side: Release['side'],
  releases: readonly Release[],
): Promise<void> {
  const found = await fillNeighbours(
    client,
    slice,
    kinds,
    side,
    releases.map(({ node }) => node.row.id),
  )
  for (const { node, by } of releases) {
    for (const id of found.get(node.row.id) ?? []) {
      const neighbour = slice.nodes.get(id)
      if (neighbour && !neighbour.gone) countOff(neighbour, by, slice)
    }
  }
}

function countOff(neighbour: TrackedObject, by: 0 | 1, slice: TreeSlice): void {
  if (by === 0) return slice.touch(neighbour)
  const waitingFor = Math.max(0, neighbour.row.waitingFor - 1)
  slice.patch(neighbour, { waitingFor })
  if (waitingFor === 0) slice.touch(neighbour)
}
