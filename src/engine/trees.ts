import type { PoolClient } from 'pg'
import type { HeldTree, NewRoot, Scope, Trees } from '../families/family.ts'
import type { Client } from '../store/client.ts'
import { insertWakes } from '../store/queue.ts'
import { lockScope } from '../store/scope.ts'
import { Draft } from './draft.ts'
import { bring } from './load.ts'
import { ScopeLane } from './scope-lane.ts'
import type { TreeSlice } from './slice.ts'
import {
  type Aftermath,
  closeTree,
  type EngineParts,
  newSlice,
  type OpenTree,
  openTree,
  transaction,
  type Word,
} from './transaction.ts'

/** Mutations write through the same transactions as the engine: they leave word, and the engine does the rest. */
export function treesOf(parts: EngineParts, announce: (aftermath: Aftermath) => void): Trees {
  const lanes = new Map<string, ScopeLane<InScope | null>>()
  const inTransaction = async <T>(work: (open: Open) => Promise<T>): Promise<T> => {
    const { result, told } = await transaction(parts.pool, async (client) => {
      const open: Open = { client, parts, told: [] }
      return { result: await work(open), told: open.told }
    })
    announce(told.reduce(merge, NOTHING))
    return result
  }
  const laneOf = (project: string): ScopeLane<InScope | null> => {
    const known = lanes.get(project)
    if (known) return known
    const made = new ScopeLane<InScope | null>((work) =>
      inTransaction(async (open) => {
        const projectId = await lockScope(open.client, project)
        await work(projectId === null ? null : { open, project, projectId })
      }),
    )
    lanes.set(project, made)
    return made
  }

  return {
    inTree: (rootId, work) =>
      inTransaction((open) =>
        holding(open, async (held) => {
          const tree = await hold(open, held, rootId)
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

interface Open {
  readonly client: PoolClient
  readonly parts: EngineParts
  /** What is to be told once it is committed. */
  readonly told: Aftermath[]
}
interface InScope {
  readonly open: Open
  readonly project: string
  readonly projectId: string
}

/** Whatever comes to be held is written when the work on it is done. */
async function holding<T>({ told }: Open, work: (held: Held[]) => Promise<T>): Promise<T> {
  const held: Held[] = []
  const result = await work(held)
  for (const one of held) told.push(await one.close())
  return result
}

async function hold({ client, parts }: Open, held: Held[], rootId: string): Promise<Held | null> {
  const tree = await openTree(client, rootId, parts)
  if (typeof tree === 'string') return null
  const holding = new Held(tree, parts)
  held.push(holding)
  return holding
}

function inScope<T>({ open, project, projectId }: InScope, work: (scope: Scope) => Promise<T>): Promise<T> {
  const { client, parts, told } = open
  return holding(open, (held) =>
    work({
      client,
      projectId,
      now: parts.ambient.now(),
      plant: (root) => {
        const planted = Held.planted(client, parts, { project, projectId, root })
        held.push(planted)
        return planted
      },
      hold: (rootId) => hold(open, held, rootId),
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

class Held implements HeldTree {
  readonly slice: TreeSlice
  readonly client: Client
  readonly #tree: OpenTree
  readonly #parts: EngineParts
  readonly #words: Word[] = []

  constructor(tree: OpenTree, parts: EngineParts) {
    this.#tree = tree
    this.#parts = parts
    this.slice = tree.slice
    this.client = tree.client
  }

  static planted(
    client: PoolClient,
    parts: EngineParts,
    { project, projectId, root }: { project: string; projectId: string; root: NewRoot },
  ): Held {
    const id = parts.ambient.id()
    const now = parts.ambient.now()
    const draft = Draft.fresh({
      id,
      rootId: id,
      parentId: null,
      projectId,
      kind: root.kind,
      name: root.name,
      ordinal: 0,
      phase: parts.kinds.machine(root.kind).initial,
      phaseSince: now,
      revision: 1,
      generation: 1,
      observedGeneration: 0,
      jobId: null,
      finishedJobId: null,
      deletionRequestedAt: null,
      waitingFor: 0,
      createdAt: now,
      updatedAt: now,
    })
    const slice = newSlice(parts, project, draft, new Map())
    slice.adopt(draft, root, 'USER')
    return new Held({ client, slice, wakeAt: null, failures: 0 }, parts)
  }

  get root() {
    return this.slice.root
  }
  // Properties rather than methods: rules take what they need of a held tree apart.
  readonly bring = (ids: readonly string[]): Promise<void> => bring(this.client, this.slice, this.#parts.kinds, ids)
  readonly wake = (ids: readonly string[], reason: string | null = null): void => {
    this.#words.push({ rootId: this.root.row.id, ids, reason })
  }
  readonly reject = (...[node, to, by, reason, actor = 'USER']: Parameters<HeldTree['reject']>): void => {
    this.slice.reject(node, to, actor, by, reason)
  }

  close(): Promise<Aftermath> {
    return closeTree(this.#tree, this.#parts, new Set(), false, this.#words)
  }
}
