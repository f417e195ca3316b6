import type { PoolClient } from 'pg'
import type { HeldTree, NewRoot, Trees } from '../families/family.ts'
import type { Client } from '../store/client.ts'
import { insertWakes } from '../store/queue.ts'
import { lockScope } from '../store/scope.ts'
import { Draft } from './draft.ts'
import { bring } from './load.ts'
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
  async function running<T>(work: (open: Open) => Promise<T>): Promise<T> {
    const { result, told } = await transaction(parts.pool, async (client) => {
      const open: Open = { client, held: [], woken: new Set() }
      const result = await work(open)
      const told: Aftermath[] = [{ ...NOTHING, woken: open.woken }]
      for (const held of open.held) told.push(await held.close())
      return { result, told }
    })
    announce(told.reduce(merge))
    return result
  }
  async function hold({ client, held }: Open, rootId: string): Promise<Held | null> {
    const tree = await openTree(client, rootId, parts)
    if (typeof tree === 'string') return null
    const holding = new Held(tree, parts)
    held.push(holding)
    return holding
  }

  return {
    inTree: (rootId, work) =>
      running(async (open) => {
        const held = await hold(open, rootId)
        return held && work(held)
      }),
    inScope: (project, work) =>
      running(async (open) => {
        const { client } = open
        const projectId = await lockScope(client, project)
        if (!projectId) return null
        return work({
          client,
          projectId,
          now: parts.ambient.now(),
          plant: (root) => {
            const held = Held.planted(client, parts, { project, projectId, root })
            open.held.push(held)
            return held
          },
          hold: (rootId) => hold(open, rootId),
          wake: async (rootIds, reason) => {
            for (const rootId of rootIds) {
              await insertWakes(client, rootId, [rootId], reason)
              open.woken.add(rootId)
            }
          },
        })
      }),
  }
}

interface Open {
  readonly client: PoolClient
  readonly held: Held[]
  readonly woken: Set<string>
}
const NOTHING: Aftermath = { woken: new Set(), types: new Set(), written: [] }

const merge = (a: Aftermath, b: Aftermath): Aftermath => ({
  woken: new Set([...a.woken, ...b.woken]),
  types: new Set([...a.types, ...b.types]),
  written: [...a.written, ...b.written],
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
  readonly reject = (...[node, to, by, reason]: Parameters<HeldTree['reject']>): void => {
    this.slice.reject(node, to, 'USER', by, reason)
  }

  close(): Promise<Aftermath> {
    return closeTree(this.#tree, this.#parts, new Set(), false, this.#words)
  }
}
