import type { Scope, Trees } from '../families/family.ts'
import type { Logger } from '../logger.ts'
import { awaitAll } from '../store/await-all.ts'
import { insertWakes } from '../store/queue.ts'
import { isReplaced, isTakenBack, lockKnownScope, lockScope } from '../store/scope.ts'
import type { Handing } from './handing.ts'
import { type Decide, Held } from './held.ts'
import type { KeptItems } from './kept-items.ts'
import { runToFixpoint } from './run-to-fixpoint.ts'
import type { Announce } from './runner.ts'
import { ScopeLane } from './scope-lane.ts'
import type { TreeSlice } from './slice.ts'
import { type Aftermath, type EngineParts, openTree, type Transaction } from './transaction.ts'

/** At most so many phase writes while a project's scope is locked: the rest is left as a word. */
const BUDGET = 500

export interface TreesParts {
  readonly parts: EngineParts
  readonly announce: Announce
  readonly handing: Handing
  readonly kept: KeptItems
  readonly logger: Logger
}

/**
 * Mutations write through the same transactions as the engine: they leave word, and the engine does the rest. A new tree
 * that nobody has to wait for goes on at once, as far as it can, in the very transaction that creates it.
 */
export function treesOf(given: TreesParts): Trees {
  const lanes = new Map<string, ScopeLane<InScope | null>>()
  /** Of projects as they were; the lock tells whether they still are. */
  const ids = new Map<string, string>()
  const laneOf = (project: string): ScopeLane<InScope | null> => {
    const known = lanes.get(project)
    if (known) return known
    const made = new ScopeLane<InScope | null>(async (work, { isAlone, joins }) => {
      const run = (trusts: boolean) => {
        const under = (open: Open) => underLock(open, { project, ids, trusts }, work)
        return isAlone ? deciding(given, under, trusts) : inTransaction(given, under)
      }
      // Several that share a transaction share the question, too: one that is refused would take the others with it.
      const trusts = isAlone && joins
      await run(trusts).catch((error) => {
        if (!isRefused(error, trusts)) throw error
        ids.delete(project)
        return run(false)
      })
    })
    lanes.set(project, made)
    return made
  }

  return {
    inTree: (rootId, work) =>
      inTransaction(given, (open) =>
        holding(open, async (held) => {
          const tree = await lockTree(open, held, rootId)
          return tree && work(tree)
        }),
      ),
    inScope: <T>(project: string, work: (scope: Scope) => Promise<T>, { joins = false } = {}) =>
      new Promise<T | null>((resolve, reject) => {
        let result: T | null = null
        const lane = laneOf(project)
        lane.add({
          joins,
          run: async (scope) => {
            result = scope && (await inScope(scope, work))
          },
          committed: () => resolve(result),
          failed: reject,
        })
      }).finally(() => {
        if (lanes.get(project)?.isIdle) lanes.delete(project)
      }),
  }
}

interface Open extends Transaction {
  readonly parts: EngineParts
  /** What is to be told once it is committed. */
  readonly told: Aftermath[]
  /** Null: what is new is left word of. */
  readonly decide: Decide | null
}
interface InScope {
  readonly open: Open
  readonly project: string
  readonly projectId: string
  readonly now: Date
  readonly trusts: boolean
}

/** What was known, or trusted, is not so, and nothing is written. */
const isRefused = (error: unknown, trusts: boolean): boolean => isReplaced(error) || (trusts && isTakenBack(error))

interface UnderLock {
  readonly project: string
  readonly ids: Map<string, string>
  readonly trusts: boolean
}

/** Where the project's id is known already, what is asked for under its lock travels with it, judged by the time that is believed. */
async function underLock(
  open: Open,
  { project, ids, trusts }: UnderLock,
  work: (scope: InScope | null) => Promise<void>,
): Promise<void> {
  const known = ids.get(project)
  const { system } = open.parts
  if (known === undefined) {
    const locked = await lockScope(open.client, project, system.fixedTime)
    if (!locked) return work(null)
    const { projectId, at } = locked
    ids.set(project, projectId)
    return work({ open, project, projectId, now: at, trusts: false })
  }
  const now = system.now()
  const locked = lockKnownScope(open.client, { project, id: known, now: system.fixedTime ? null : now })
  // Before the work, so that it is what is told when it fails.
  if (trusts) open.leave([locked])
  await awaitAll([!trusts && locked, work({ open, project, projectId: known, now, trusts })])
}

/** @param decided slices that are decided in the transaction end up here; absent: none is */
async function inTransaction<T>(
  { parts, announce, handing, kept }: TreesParts,
  work: (open: Open) => Promise<T>,
  decided?: TreeSlice[],
): Promise<T> {
  const { result, told } = await handing.transaction(async (given, handOver) => {
    const { client } = given
    const decide = async (slice: TreeSlice) => {
      decided?.push(slice)
      const left = await runToFixpoint(client, slice, parts.kinds, BUDGET)
      handOver(slice)
      return left
    }
    const open: Open = { ...given, parts, told: [], decide: decided ? decide : null }
    return { result: await work(open), told: open.told }
  })
  for (const slice of decided ?? []) kept.keep(slice)
  announce(told.reduce(merge, NOTHING))
  return result
}

/** What is asked for must not be refused because it cannot be decided: then it is left as a word. */
async function deciding(given: TreesParts, work: (open: Open) => Promise<void>, trusts: boolean): Promise<void> {
  const decided: TreeSlice[] = []
  try {
    await inTransaction(given, work, decided)
  } catch (error) {
    if (decided.length === 0 || isRefused(error, trusts)) throw error
    given.logger.warn({ err: error }, 'a new tree could not be decided as it was created: the engine will try again')
    await inTransaction(given, work)
  }
}

/** Whatever comes to be held is written when the work on it is done. */
async function holding<T>({ told, decide }: Open, work: (held: Held[]) => Promise<T>): Promise<T> {
  const held: Held[] = []
  const result = await work(held)
  for (const one of held) told.push(await one.close(decide))
  return result
}

async function lockTree(open: Open, held: Held[], rootId: string): Promise<Held | null> {
  const tree = await openTree(open, rootId, open.parts)
  if (typeof tree === 'string') return null
  const holding = new Held(tree, open.parts)
  held.push(holding)
  return holding
}

function inScope<T>(
  { open, project, projectId, now, trusts }: InScope,
  work: (scope: Scope) => Promise<T>,
): Promise<T> {
  const { client, parts, told } = open
  return holding(open, (held) =>
    work({
      client,
      projectId,
      now,
      trusts,
      createRoot: (root) => {
        const created = Held.created(open, parts, { project, projectId, now, root })
        held.push(created)
        return created
      },
      lockTree: (rootId) => lockTree(open, held, rootId),
      wake: async (rootIds, reason) => {
        for (const rootId of rootIds) await insertWakes(client, rootId, [rootId], reason)
        told.push({ ...NOTHING, woken: new Set(rootIds) })
      },
    }),
  )
}

const NOTHING: Aftermath = { woken: new Set(), types: new Set(), changed: false }

const merge = (a: Aftermath, b: Aftermath): Aftermath => ({
  woken: new Set([...a.woken, ...b.woken]),
  types: new Set([...a.types, ...b.types]),
  changed: a.changed || b.changed,
})
