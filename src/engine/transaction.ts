import type { Pool, PoolClient } from 'pg'
import { following } from '../core/clock-offset.ts'
import type { WrittenBatch } from '../core/ports/phase-change.ts'
import type { System } from '../core/ports/system.ts'
import type { Evaluated, TimeoutDefaults } from '../core/tree.ts'
import { appendChanges } from '../log/append.ts'
import { awaitAll } from '../store/await-all.ts'
import { loadEdges } from '../store/load-edges.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import {
  dueWork,
  forgetRoot,
  insertWakes,
  lockRoot,
  nextDue,
  scheduleRoot,
  takeLostWork,
  takeWakes,
} from '../store/queue.ts'
import { RevisionConflict } from '../store/transition.ts'
import type { Kinds } from './families.ts'
import { flush, onlyInserts } from './flush.ts'
import type { SpecsOfTree } from './kept-specs.ts'
import { load, take, takeNeighbours } from './load.ts'
import { type Effect, type SliceOptions, TreeSlice } from './slice.ts'
import { TrackedObject } from './tracked-object.ts'

export interface EngineParts {
  readonly pool: Pool
  readonly kinds: Kinds
  readonly system: System
  readonly timeouts: TimeoutDefaults
  /** Told what is about to be committed to the log. */
  readonly appended?: (batches: readonly WrittenBatch[]) => void
}

/**
 * Statements of which nothing but their success is asked: the commit travels with them. They are sent already, and when
 * one fails so does the transaction.
 */
export type Leave = (sent: readonly Promise<unknown>[]) => void
/** What a transaction is done with. */
export interface Transaction {
  readonly client: PoolClient
  readonly leave: Leave
}

/** One tree in one transaction, its root row locked. */
export interface OpenTree extends Transaction {
  readonly slice: TreeSlice
  /** When the clock next matters to this tree, as far as the store knew; null: not at all. */
  readonly wakeAt: Date | null
  readonly failures: number
}

/** What a tree is to be looked at for; a reason goes to its family. */
export interface Word {
  readonly rootId: string
  readonly ids: readonly string[]
  readonly reason: string | null
}

/** What others are to be told after the commit. */
export interface Aftermath {
  /** Trees that wait to be looked at. */
  readonly woken: ReadonlySet<string>
  /** Types of work that came up. */
  readonly types: ReadonlySet<string>
  /** The log has something to number. */
  readonly changed: boolean
}

// With names, so that they are written together with the statements beside them.
const BEGIN = { name: 'begin', text: 'begin' }
const COMMIT = { name: 'commit', text: 'commit' }

export async function transaction<T>(pool: Pool, work: (given: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  const left = new Left()
  try {
    // Not waited for: it travels with the first statement, and when it fails the connection is lost for that one too.
    left.add([client.query(BEGIN)])
    const result = await work({ client, leave: left.add })
    left.check()
    const [{ command }] = await awaitAll([client.query(COMMIT), left.settled()])
    if (command !== 'COMMIT')
      throw new Error(`a transaction ended with ${command}, though no statement of it has failed`)
    return result
  } catch (error) {
    // A connection that cannot even roll back is not given back to the pool.
    await client.query('rollback').catch((cause: Error) => {
      broken = cause
    })
    throw error
  } finally {
    client.release(broken)
  }
}

/** Statements that the commit travels with. */
class Left {
  readonly #sent: Promise<unknown>[] = []
  #failure: { readonly error: unknown } | null = null

  readonly add: Leave = (sent) => {
    for (const one of sent) {
      this.#sent.push(one)
      one.catch((error: unknown) => {
        this.#failure ??= { error }
      })
    }
  }
  /** One that could not even be sent must not be missing from what is committed. */
  check(): void {
    if (this.#failure) throw this.#failure.error
  }
  async settled(): Promise<void> {
    await awaitAll(this.#sent)
  }
}

const NOTHING_KEPT: ReadonlyMap<string, LoadedNode> = new Map()
const NONE: ReadonlyMap<string, Evaluated> = new Map()

interface OpenOptions {
  /** Objects that are needed besides the root. */
  readonly ids?: readonly string[]
  /** Objects whose dependents are likely to be asked for. */
  readonly ending?: readonly string[]
  /** Those of them that need not be read. */
  readonly kept?: ReadonlyMap<string, LoadedNode>
  readonly skipLocked?: boolean
  readonly evaluated?: ReadonlyMap<string, Evaluated>
  readonly keptSpecs?: SpecsOfTree
}

/**
 * The lock in a statement of its own, everything else after it: so writes of one tree are serial. They travel together,
 * but what is loaded is read when the lock is there.
 */
export async function openTree(
  { client, leave }: Transaction,
  rootId: string,
  parts: EngineParts,
  { ids = [], ending = [], kept = NOTHING_KEPT, skipLocked = false, evaluated = NONE, keptSpecs }: OpenOptions = {},
): Promise<OpenTree | 'gone' | 'locked'> {
  const { kinds, system } = parts
  const wanted = new Set([rootId, ...ids.map((id) => kept.get(id)?.row.parentId ?? id)])
  const [lock, loaded, dependents] = await awaitAll([
    lockRoot(client, rootId, { skipLocked, time: system.fixedTime }),
    kinds.loader.nodes(client, rootId, [...wanted]),
    ending.length > 0 && loadEdges(client, 'dependents', ending),
  ])
  if (typeof lock === 'string') return lock
  const { projectName, row } = lock
  // A root that was planted has the time as well as its process knew it.
  const now = new Date(following(row.updatedAt.getTime(), lock.at.getTime()))
  const slice = newSlice(parts, { projectName, root: TrackedObject.fresh(row), now, evaluated, keptSpecs })
  slice.nodes.clear()
  take(slice, kinds, loaded)
  const root = slice.nodes.get(rootId)
  if (!root) return 'gone'
  slice.root = root
  const placed = [...kept.values()].filter(({ row }) => slice.nodes.has(row.parentId ?? ''))
  if (placed.length < kept.size) throw new RevisionConflict(kept.size, placed.length)
  take(slice, kinds, placed)
  if (dependents) await takeNeighbours(client, slice, kinds, 'dependents', dependents)
  return { client, leave, slice, wakeAt: lock.wakeAt, failures: lock.failures }
}

export function newSlice(
  { system, timeouts, kinds }: EngineParts,
  given: Pick<SliceOptions, 'root' | 'projectName' | 'now' | 'evaluated' | 'keptSpecs'>,
): TreeSlice {
  return new TreeSlice({
    ...given,
    system,
    timeouts,
    machineOf: kinds.machine,
    detailsDefaults: (kind) => kinds.detailsOf(kind)?.defaults ?? null,
  })
}

/** Takes in what others left word of, and what the clock says. Returns whether the clock was why. */
export async function takeWord(tree: OpenTree, kinds: Kinds): Promise<boolean> {
  const { client, slice } = tree
  const words = await takeWakes(client, slice.root.row.id)
  const due = tree.wakeAt !== null && tree.wakeAt <= slice.now
  const dueIds = due ? await dueWork(client, slice.root.row.id, slice.now) : []
  await load(client, slice, kinds, [...words.flatMap((word) => word.objectIds), ...dueIds])
  for (const { objectIds, reason } of words) {
    for (const id of objectIds) {
      const tracked = slice.nodes.get(id)
      if (!tracked) continue
      if (reason) slice.look(tracked, () => kinds.family(tracked.row.kind).onWake(tracked, reason, slice))
      slice.touch(tracked)
    }
  }
  for (const id of dueIds) {
    const tracked = slice.nodes.get(id)
    if (tracked) slice.touch(tracked)
  }
  const lost = dueIds.filter((id) => !slice.nodes.has(id))
  if (lost.length > 0) await writeOff(tree, kinds, lost)
  return due
}

/** Their clock has run out and they are not there any more: to their parents they have failed. */
async function writeOff({ client, slice }: OpenTree, kinds: Kinds, lost: readonly string[]): Promise<void> {
  const works = await takeLostWork(client, lost)
  await load(
    client,
    slice,
    kinds,
    works.flatMap(({ parentId }) => parentId ?? []),
  )
  for (const { parentId, jobId } of works) {
    const parent = slice.nodes.get(parentId ?? '')
    if (!parent || parent.row.jobId !== jobId) continue
    slice.addChildCounts(parent, { open: -1, failed: 1 })
    slice.touch(parent)
  }
}

/**
 * Writes everything, the log last. Then the transaction can be committed; what only inserts, and so cannot find that it was
 * wrong, is left for the commit to travel with.
 */
export async function closeTree(
  tree: OpenTree,
  parts: EngineParts,
  left: ReadonlySet<string>,
  clock: boolean,
  words: readonly Word[] = [],
): Promise<Aftermath> {
  const { client, slice, leave } = tree
  const rootId = slice.root.row.id
  const { details } = parts.kinds
  const woken = new Set<string>()
  const { gone } = slice.root
  const effects = slice.effects.splice(0)
  // What a root leaves behind is seen to before it goes; what else hangs on a row is written after it.
  if (gone) await runEffects(tree, effects, parts.kinds, woken)
  // An effect may have more to say than what it sends at once.
  const inserts = onlyInserts(slice) && !gone && effects.length === 0
  const sent = [...flush(client, slice, details)]
  if (!gone) sent.push(runEffects(tree, effects, parts.kinds, woken))
  const wakes: readonly Word[] = left.size > 0 ? [{ rootId, ids: [...left], reason: null }, ...words] : words
  for (const word of wakes) {
    sent.push(insertWakes(client, word.rootId, word.ids, word.reason))
    woken.add(word.rootId)
  }
  sent.push(schedule(tree, clock))
  // What it waits for must have its answer.
  if (clock || tree.failures > 0) await awaitAll(sent.splice(0))
  sent.push(appendChanges(client, slice.changes).then((batches) => parts.appended?.(batches)))
  if (inserts) leave(sent)
  else await awaitAll(sent)
  return { woken, types: slice.offers, changed: slice.changes.length > 0 }
}

async function runEffects(
  { client, slice }: OpenTree,
  effects: readonly Effect[],
  kinds: Kinds,
  woken: Set<string>,
): Promise<void> {
  for (const { name, args } of effects) {
    const run = kinds.families.find((family) => family.effects[name])?.effects[name]
    if (!run) throw new Error(`no family has the effect ${name}`)
    for (const rootId of await run(client, slice.root, args, slice.now)) woken.add(rootId)
  }
}

/** One row for each tree says when its clock matters next: written only when that gets earlier, or has passed. */
async function schedule({ client, slice, wakeAt, failures }: OpenTree, clock: boolean): Promise<void> {
  const rootId = slice.root.row.id
  const { due } = slice
  if (slice.root.gone) await forgetRoot(client, rootId)
  else if (clock || failures > 0) await scheduleRoot(client, rootId, await nextDue(client, rootId))
  else if (due && (!wakeAt || due < wakeAt)) await scheduleRoot(client, rootId, due)
}
