import type { Pool, PoolClient } from 'pg'
import type { Ambient, WrittenBatch } from '../core/ports.ts'
import type { Evaluated, TimeoutDefaults } from '../core/tree.ts'
import { appendChanges } from '../log/append.ts'
import type { Client } from '../store/client.ts'
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
import { Draft } from './draft.ts'
import type { Kinds } from './families.ts'
import { flush } from './flush.ts'
import { bring } from './load.ts'
import { TreeSlice } from './slice.ts'

export interface EngineParts {
  readonly pool: Pool
  readonly kinds: Kinds
  readonly ambient: Ambient
  readonly timeouts: TimeoutDefaults
}

/** One tree in one transaction, its root row locked. */
export interface OpenTree {
  readonly client: PoolClient
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
  /** What the log has to number. */
  readonly written: readonly WrittenBatch[]
}

export async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
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

const NONE: ReadonlyMap<string, Evaluated> = new Map()

/** The lock in a statement of its own, everything else after it: so writes of one tree are serial. */
export async function openTree(
  client: PoolClient,
  rootId: string,
  parts: EngineParts,
  options: { readonly skipLocked?: boolean; readonly evaluated?: ReadonlyMap<string, Evaluated> } = {},
): Promise<OpenTree | 'gone' | 'locked'> {
  const lock = await lockRoot(client, rootId, options.skipLocked ?? false)
  if (typeof lock === 'string') return lock
  const slice = newSlice(parts, lock.projectName, Draft.fresh(lock.row), options.evaluated ?? NONE)
  slice.nodes.clear()
  await bring(client, slice, parts.kinds, [rootId])
  const root = slice.nodes.get(rootId)
  if (!root) return 'gone'
  slice.root = root
  return { client, slice, wakeAt: lock.wakeAt, failures: lock.failures }
}

export function newSlice(
  { ambient, timeouts, kinds }: EngineParts,
  projectName: string,
  root: Draft,
  evaluated: ReadonlyMap<string, Evaluated>,
): TreeSlice {
  return new TreeSlice({
    root,
    projectName,
    ambient,
    now: ambient.now(),
    timeouts,
    machineOf: kinds.machine,
    factsDefaults: (kind) => kinds.factsOf(kind)?.defaults ?? null,
    evaluated,
  })
}

/** Takes in what others left word of, and what the clock says. Returns whether the clock was why. */
export async function takeWord(tree: OpenTree, kinds: Kinds): Promise<boolean> {
  const { client, slice } = tree
  const words = await takeWakes(client, slice.root.row.id)
  const due = tree.wakeAt !== null && tree.wakeAt <= slice.now
  const dueIds = due ? await dueWork(client, slice.root.row.id, slice.now) : []
  await bring(client, slice, kinds, [...words.flatMap((word) => word.objectIds), ...dueIds])
  for (const { objectIds, reason } of words) {
    for (const id of objectIds) {
      const draft = slice.nodes.get(id)
      if (!draft) continue
      if (reason) slice.look(draft, () => kinds.family(draft.row.kind).woken(draft, reason, slice))
      slice.touch(draft)
    }
  }
  for (const id of dueIds) {
    const draft = slice.nodes.get(id)
    if (draft) slice.touch(draft)
  }
  const lost = dueIds.filter((id) => !slice.nodes.has(id))
  if (lost.length > 0) await writeOff(tree, kinds, lost)
  return due
}

/** Their clock has run out and they are not there any more: to their parents they have failed. */
async function writeOff({ client, slice }: OpenTree, kinds: Kinds, lost: readonly string[]): Promise<void> {
  const works = await takeLostWork(client, lost)
  await bring(
    client,
    slice,
    kinds,
    works.flatMap(({ parentId }) => parentId ?? []),
  )
  for (const { parentId, jobId } of works) {
    const parent = slice.nodes.get(parentId ?? '')
    if (!parent || parent.row.jobId !== jobId) continue
    slice.addTally(parent, { open: -1, failed: 1 })
    slice.touch(parent)
  }
}

/** Writes everything, the log last. Then the transaction can be committed. */
export async function closeTree(
  tree: OpenTree,
  parts: EngineParts,
  left: ReadonlySet<string>,
  clock: boolean,
  words: readonly Word[] = [],
): Promise<Aftermath> {
  const { client, slice } = tree
  const rootId = slice.root.row.id
  const offers = offersOf(slice)
  const due = earliestDue(slice)
  // What hangs on a row is written after it; what a root leaves behind is seen to before it goes.
  if (!slice.root.gone) await flush(client, slice, parts.kinds.facts)
  const woken = await runEffects(client, slice, parts.kinds)
  await flush(client, slice, parts.kinds.facts)
  if (left.size > 0) {
    await insertWakes(client, rootId, [...left], null)
    woken.add(rootId)
  }
  for (const word of words) {
    await insertWakes(client, word.rootId, word.ids, word.reason)
    woken.add(word.rootId)
  }
  await schedule(tree, due, clock)
  const written = await appendChanges(client, slice.changes)
  return { woken, types: offers, written }
}

async function runEffects(client: Client, slice: TreeSlice, kinds: Kinds): Promise<Set<string>> {
  const woken = new Set<string>()
  for (const { name, args } of slice.effects.splice(0)) {
    const run = kinds.families.find((family) => family.effects[name])?.effects[name]
    if (!run) throw new Error(`no family has the effect ${name}`)
    for (const rootId of await run(client, slice.root, args, slice.now)) woken.add(rootId)
  }
  return woken
}

function offersOf(slice: TreeSlice): Set<string> {
  const types = new Set<string>()
  for (const draft of slice.nodes.values()) if (draft.offered && draft.work) types.add(draft.work.type)
  return types
}

function earliestDue(slice: TreeSlice): Date | null {
  let due: Date | null = null
  for (const { work, dirty } of slice.nodes.values()) {
    if (dirty.has('work') && work?.dueAt && (!due || work.dueAt < due)) due = work.dueAt
  }
  return due
}

/** One row for each tree says when its clock matters next: written only when that gets earlier, or has passed. */
async function schedule(tree: OpenTree, due: Date | null, clock: boolean): Promise<void> {
  const { client, slice, wakeAt, failures } = tree
  const rootId = slice.root.row.id
  if (slice.root.gone) await forgetRoot(client, rootId)
  else if (clock || failures > 0) await scheduleRoot(client, rootId, await nextDue(client, rootId))
  else if (due && (!wakeAt || due < wakeAt)) await scheduleRoot(client, rootId, due)
}
