import { awaitAll } from '../store/await-all.ts'
import type { Client } from '../store/client.ts'
import type { Kinds } from './families.ts'
import { flush } from './flush.ts'
import { answer, fillNeighbours } from './load.ts'
import type { Release, TreeSlice } from './slice/tree-slice.ts'
import type { TrackedObject } from './tracked-object.ts'

/** A tree whose rules run more often than this in one transaction has a loop. */
const MAX_RULE_RUNS = 1_000_000

/**
 * Lets every touched object decide until no rule has anything to do or the budget of phase writes is spent. Rules are
 * pure; the data they request is loaded between rounds. Returns the ids of objects whose rules have to run again.
 *
 * No rule concludes from stale counts: an object decides after the releases of its children are counted, and a rule
 * that waits for rest decides once nothing else has anything to do.
 */
export async function runToFixpoint(
  client: Client,
  slice: TreeSlice,
  kinds: Kinds,
  budget: number,
): Promise<ReadonlySet<string>> {
  const undecided = new Set<string>()
  for (;;) {
    const postponed = decideTouched(slice, kinds, budget)
    await applyReleases(client, slice, kinds)
    // After the children that were released.
    for (const tracked of postponed) slice.touch(tracked)
    if (slice.touched.size > 0 && slice.moves < budget) continue
    const open = slice.questions.take()
    if (slice.moves >= budget) {
      for (const tracked of [...slice.touched, ...open.flatMap(({ askers }) => [...askers])])
        if (!tracked.gone) undecided.add(tracked.row.id)
      break
    }
    if (open.length === 0) {
      if (!touchResting(slice)) break
      continue
    }
    // Some questions are queries, so the decisions so far are written first.
    await awaitAll([
      ...flush(client, [slice], kinds),
      answer(
        client,
        slice,
        kinds,
        open.map(({ question }) => question),
      ),
    ])
    for (const { askers } of open) for (const asker of askers) slice.touch(asker)
  }
  for (const { objectId } of slice.evaluations.values()) undecided.add(objectId)
  for (const { gone, row } of slice.resting) if (!gone) undecided.add(row.id)
  return undecided
}

/** Returns the objects that have to decide later, since their children have released others that are not counted yet. */
function decideTouched(slice: TreeSlice, kinds: Kinds, budget: number): readonly TrackedObject[] {
  const postponed: TrackedObject[] = []
  for (const tracked of slice.touched) {
    if (slice.moves >= budget) break
    slice.touched.delete(tracked)
    if (slice.isReleasing(tracked)) {
      postponed.push(tracked)
      continue
    }
    if (++slice.ruleRuns > MAX_RULE_RUNS)
      throw new Error(`tree ${slice.root.row.name} does not reach a fixpoint: its rules move it in a loop`)
    if (!tracked.gone) slice.runRule(tracked, () => kinds.family(tracked.row.kind).decide(tracked, slice))
  }
  return postponed
}

/** One at a time, since its decision may end the rest. False: none waits for it, or an expression is to be evaluated first. */
function touchResting(slice: TreeSlice): boolean {
  if (slice.evaluations.size > 0) return false
  for (const tracked of slice.resting) {
    slice.resting.delete(tracked)
    if (tracked.gone) continue
    slice.touch(tracked)
    return true
  }
  return false
}

/** Decrements `waitingFor` of the neighbours of released objects. A neighbour that waits for nothing more decides next. */
export async function applyReleases(client: Client, slice: TreeSlice, kinds: Kinds): Promise<void> {
  for (let releases = slice.takeReleases(); releases.length > 0; releases = slice.takeReleases()) {
    // A write removes the edges of deleted objects, so these are followed first. The other edges are followed once this
    // transaction has written them.
    await applyAll(
      client,
      slice,
      kinds,
      releases.filter(({ node }) => node.gone),
    )
    const others = releases.filter(({ node }) => !node.gone)
    if (others.length > 0 && hasUnwrittenEdges(slice)) await awaitAll(flush(client, [slice], kinds))
    await applyAll(client, slice, kinds, others)
  }
}

const hasUnwrittenEdges = (slice: TreeSlice): boolean =>
  slice.nodes.values().some((tracked) => tracked.dirty.has('edges') || !tracked.persisted)

async function applyAll(client: Client, slice: TreeSlice, kinds: Kinds, releases: readonly Release[]): Promise<void> {
  for (const side of ['dependents', 'dependencies'] as const) {
    const of = releases.filter((release) => release.side === side)
    if (of.length > 0) await applySide(client, slice, kinds, side, of)
  }
}

async function applySide(
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
      if (neighbour && !neighbour.gone) decrement(neighbour, by, slice)
    }
  }
}

function decrement(neighbour: TrackedObject, by: 0 | 1, slice: TreeSlice): void {
  if (by === 0) return slice.touch(neighbour)
  const waitingFor = Math.max(0, neighbour.row.waitingFor - 1)
  slice.patch(neighbour, { waitingFor })
  if (waitingFor === 0) slice.touch(neighbour)
}
