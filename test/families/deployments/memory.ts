import { v7 } from 'uuid'
import { isDue } from '../../../src/core/deadline.ts'
import { LEASE_MS, leaseFrom } from '../../../src/core/lease.ts'
import { Problems } from '../../../src/core/problems.ts'
import { type Evaluated, type FamilyEffects, type Node, WORK_STATE, type Work } from '../../../src/core/tree.ts'
import type { ReconcileMode } from '../../../src/core/vocabulary.ts'
import { isClaimable } from '../../../src/engine/agents/claim-one.ts'
import { type Kinds, kindsOf } from '../../../src/engine/families.ts'
import { flush } from '../../../src/engine/flush.ts'
import { load } from '../../../src/engine/load.ts'
import { runToFixpoint } from '../../../src/engine/run-to-fixpoint.ts'
import type { Evaluation } from '../../../src/engine/slice/slice-reader.ts'
import { TreeSlice } from '../../../src/engine/slice/tree-slice.ts'
import { TrackedObject } from '../../../src/engine/tracked-object.ts'
import { askForJob } from '../../../src/families/deployments/rules/ask-for-job.ts'
import { automaticOf } from '../../../src/families/deployments/rules/automatic-reconcile.ts'
import { installation } from '../../../src/families/deployments/rules/details.ts'
import { gates, isGate } from '../../../src/families/deployments/rules/gate.ts'
import { isReady, type ScopeEntry } from '../../../src/families/deployments/rules/imports.ts'
import { normaliseSpec, type SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import { isObserved } from '../../../src/families/deployments/rules/observed-spec.ts'
import { remember } from '../../../src/families/deployments/rules/pending-requests.ts'
import { type Importer, isBeingDeleted } from '../../../src/families/deployments/rules/sibling-imports.ts'
import type { InstallationSpec, ItemSpec } from '../../../src/families/deployments/rules/spec.ts'
import { rules as deployments } from '../../../src/families/deployments/server.ts'
import type { Family, RunEffect } from '../../../src/families/family.ts'
import type { Gate } from '../../../src/families/gate.ts'
import { editorOf } from '../../../src/families/on-behalf.ts'
import type { Client } from '../../../src/store/client.ts'
import type { LoadedNode } from '../../../src/store/load-nodes.ts'
import type { TreeChanges, TreeRows } from '../../../src/store/tree-rows.ts'
import { TestClock, TIMEOUTS } from '../../testkit/clock.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { type HistoryWorld, type Reported, reportOf, type SeenObject } from './history-world.ts'

/**
 * The engine's loop, slices and rules on rows in memory: a thousand times as fast as a database, so that a property can
 * play ten thousand histories. Transactions load and write as those of the engine do, so a rule finds in memory what it
 * would find there, and asks for the rest.
 */

type Stored = LoadedNode & { readonly spec: unknown; readonly dependencies: readonly string[] }

const byOrdinal = (a: Stored, b: Stored) => a.row.ordinal - b.row.ordinal || (a.row.id < b.row.id ? -1 : 1)

class MemoryRows implements TreeRows {
  readonly all = new Map<string, Stored>()

  of(id: string): Stored {
    const found = this.all.get(id)
    if (!found) throw new Error(`there is no object ${id}`)
    return found
  }
  below(parentId: string): readonly Stored[] {
    return [...this.all.values()].filter(({ row }) => row.parentId === parentId).sort(byOrdinal)
  }

  async nodes(_client: Client, rootId: string, ids: readonly string[]): Promise<readonly LoadedNode[]> {
    const found = new Map<string, Stored>()
    for (const id of ids)
      for (let at = this.all.get(id); at; at = this.all.get(at.row.parentId ?? ''))
        if (at.row.rootId === rootId) found.set(at.row.id, at)
    return [...found.values()]
  }
  async lone(_client: Client, ids: readonly string[]): Promise<readonly LoadedNode[]> {
    return ids.map((id) => this.of(id))
  }
  async children(_client: Client, parentId: string): Promise<readonly LoadedNode[]> {
    return this.below(parentId)
  }
  async named(...[, parentId, kind, names]: Parameters<TreeRows['named']>): Promise<readonly LoadedNode[]> {
    return this.below(parentId).filter(({ row }) => row.kind === kind && names.includes(row.name))
  }
  async readyChildren(...[, id, after, jobId, limit]: Parameters<TreeRows['readyChildren']>) {
    const isReady = ({ row }: Stored) => row.ordinal > after && row.waitingFor === 0 && row.jobId !== jobId
    return this.below(id)
      .filter(isReady)
      .slice(0, limit)
      .map(({ row }) => row.id)
  }
  async specs(_client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    return new Map(ids.flatMap((id) => (this.all.has(id) ? [[id, this.of(id).spec] as const] : [])))
  }
  async edges(...[, side, ids]: Parameters<TreeRows['edges']>): Promise<ReadonlyMap<string, readonly string[]>> {
    return new Map(
      ids.map((id) => [id, side === 'dependencies' ? (this.all.get(id)?.dependencies ?? []) : this.dependents(id)]),
    )
  }
  dependents(id: string): readonly string[] {
    return [...this.all.values()].flatMap(({ row, dependencies }) => (dependencies.includes(id) ? [row.id] : []))
  }

  write(_client: Client, changes: TreeChanges): readonly Promise<unknown>[] {
    for (const { row } of changes.deleted) this.#delete(row.id)
    for (const { row } of changes.deleted)
      if (this.below(row.id).length > 0) throw new Error(`${row.name} has gone, and something below it has not`)
    const { inserted, updated, specs, details, edges, childCounts, work, clocks, statuses } = changes
    for (const node of inserted) {
      const { row, childCounts, work, error, details, spec } = node
      this.all.set(row.id, {
        row,
        childCounts,
        work,
        error,
        details: details as object,
        spec,
        hasProgress: false,
        clock: null,
        dependencies: [],
      })
    }
    for (const { row } of updated) this.#set(row.id, { row })
    for (const { row, spec } of specs) this.#set(row.id, { spec })
    for (const { row, details: own } of details) this.#set(row.id, { details: own as object })
    for (const { row, dependencies } of edges)
      this.#set(row.id, { dependencies: (dependencies ?? []).map((to) => to.row.id) })
    for (const { row, childCounts: counts } of childCounts) this.#set(row.id, { childCounts: counts })
    for (const { row, work: own } of work) if (this.all.has(row.id)) this.#set(row.id, { work: own })
    for (const { row, clock } of clocks) this.#set(row.id, { clock })
    for (const { row, error } of statuses) this.#set(row.id, { error })
    return []
  }
  #set(id: string, patch: Partial<Stored>): void {
    this.all.set(id, { ...this.of(id), ...patch })
  }
  /** With its edges. */
  #delete(id: string): void {
    for (const { row, dependencies } of this.all.values())
      if (dependencies.includes(id)) this.#set(row.id, { dependencies: dependencies.filter((to) => to !== id) })
    this.all.delete(id)
  }

  /** A dependency that no spec could have: the item waits for itself. */
  tie(id: string): void {
    const { row, dependencies } = this.of(id)
    this.#set(id, { dependencies: [...dependencies, id], row: { ...row, waitingFor: row.waitingFor + 1 } })
  }
  untie(id: string): void {
    this.#set(id, { dependencies: this.of(id).dependencies.filter((to) => to !== id) })
  }
}

interface Wake {
  readonly ids: readonly string[]
  readonly reason: string | null
}
interface Datum {
  readonly value: unknown
  readonly exporterId: string | null
}

/** A tree that takes more transactions in a row has a loop. */
const MOST_TURNS = 2_000
/** No statement is sent. */
const CLIENT = null as unknown as Client
const PROJECT = v7()
const EDITOR = editorOf(viewerOf('ADMIN'))
const DEPLOYER = viewerOf('AGENT', { name: 'deployer', actor: 'DEPLOYER' })

export interface MemoryOptions {
  /** Phase writes of one transaction. */
  readonly budget: number
  /** With a planted fault. */
  readonly Slice?: typeof TreeSlice | undefined
}

export class MemoryWorld implements HistoryWorld {
  readonly rows = new MemoryRows()
  readonly data = new Map<string, Datum>()
  /** How often each object has begun a job that does something. */
  readonly begun = new Map<string, number>()
  readonly #wakes = new Map<string, Wake[]>()
  readonly #scope = new Map<string, { readonly exports: readonly string[]; readonly imports: readonly string[] }>()
  readonly #pins = new Map<string, Set<string>>()
  readonly #snapshots = new Map<string, { readonly generation: number; readonly spec: InstallationSpec }>()
  /** Automation is held. */
  isHeld = false
  readonly clock = new TestClock()
  #left = 0
  readonly #kinds: Kinds
  readonly #options: MemoryOptions

  constructor(options: MemoryOptions) {
    this.#options = options
    this.#kinds = {
      ...kindsOf([{ ...deployments, questions: this.#questions, effects: this.#effects }]),
      rows: this.rows,
    }
  }

  // Commands, which only write what is wanted, as those of the family do.

  async create(name: string, spec: SpecInput): Promise<string> {
    const id = v7()
    const place = {
      id,
      rootId: id,
      parentId: null,
      projectId: PROJECT,
      kind: 'INSTALLATION',
      name,
      ordinal: 0,
      waitingFor: 0,
    } as const
    const root = TrackedObject.created(place, 'PENDING', this.clock.now())
    const slice = this.#slice(root, new Map())
    const stored = normalised(spec)
    slice.adopt(root, { spec: stored, details: {} }, 'USER')
    const automaticReconcile = automaticOf(stored.automaticReconcile, EDITOR, { present: null, isEdited: true })
    slice.setDetails(root, { automaticReconcile })
    askForJob(root, 'STANDARD', { by: null, cause: 'CREATED' }, slice)
    this.#declare(id, stored)
    this.wake(id, [id])
    await this.#commit(slice)
    return id
  }
  reconcile(id: string, mode: ReconcileMode): Promise<void> {
    return this.#command(id, (slice) => askForJob(slice.root, mode, { by: null, cause: 'REQUESTED' }, slice))
  }
  /** Refused while it is deleted. */
  update(id: string, spec: SpecInput, reconcile: boolean): Promise<void> {
    return this.#command(id, (slice) => {
      const { root } = slice
      const { row } = root
      if (row.deletionRequestedAt || installation(root).nextDeletion) return
      const stored = normalised(spec)
      const before = this.rows.of(id).spec as InstallationSpec
      if (JSON.stringify(before) !== JSON.stringify(stored)) {
        if (isObserved(row)) this.#snapshots.set(id, { generation: row.generation, spec: before })
        slice.setSpec(root, stored)
        slice.patch(root, { generation: row.generation + 1 })
        const present = installation(root).automaticReconcile
        const automatic = automaticOf(stored.automaticReconcile, EDITOR, { present, isEdited: true })
        slice.setDetails(root, { automaticReconcile: automatic })
        const gone = before.exports.filter((old) => !stored.exports.some(({ name }) => name === old.name))
        this.#declare(id, stored)
        this.#wakeAll(
          this.#importersOf(
            gone.map(({ name }) => name),
            id,
          ),
        )
      }
      if (reconcile) askForJob(root, 'STANDARD', { by: null, cause: 'CHANGED' }, slice)
    })
  }
  remove(id: string, { force, withoutUninstall }: { force: boolean; withoutUninstall: boolean }): Promise<void> {
    return this.#command(id, (slice) => {
      const { root } = slice
      const { forceDeletion, nextDeletion } = installation(root)
      const isRequested = root.row.deletionRequestedAt !== null || nextDeletion
      remember(root, slice, {
        nextDeletion: true,
        nextOrigin: { by: null, cause: 'DELETED', withoutUninstall },
        forceDeletion: force || (forceDeletion && isRequested),
      })
      if (force) this.#wakeActive(id)
    })
  }
  cancel(id: string): Promise<void> {
    return this.#command(id, (slice) => {
      const { root } = slice
      const { nextMode, nextDeletion, nextOrigin } = installation(root)
      const isFinished = root.row.jobId === root.row.finishedJobId
      slice.setDetails(root, { nextMode: null, nextOrigin: nextDeletion ? nextOrigin : null })
      if (isFinished && nextMode) this.#wakeAll(this.#importersOf(this.#exportsOf(id), id))
      if (isFinished) return
      slice.setDetails(root, { cancelRequestedAt: slice.now })
      this.#wakeActive(id)
    })
  }
  async ignore(id: string, ignored: boolean, reconcile: boolean): Promise<void> {
    const { rootId } = this.rows.of(id).row
    const slice = await this.#lock(rootId, [id], new Map())
    const node = slice.nodes.get(id) as TrackedObject
    const { root } = slice
    if (installation(node).ignored !== ignored) {
      slice.setDetails(node, { ignored })
      const { jobId, finishedJobId, generation, deletionRequestedAt } = node.row
      if (!ignored && !deletionRequestedAt) {
        if (node !== root && jobId === finishedJobId) slice.patch(node, { generation: generation + 1 })
        if (reconcile) askForJob(root, 'STANDARD', { by: null, cause: 'CHANGED' }, slice)
      }
      this.wake(rootId, [id, rootId])
    }
    await this.#commit(slice)
  }
  #wakeActive(rootId: string): void {
    const rows = [...this.rows.all.values()].map(({ row }) => row)
    const active = rows.filter((row) => row.rootId === rootId && row.jobId !== row.finishedJobId)
    this.wake(
      rootId,
      active.map(({ id }) => id),
    )
  }
  rollback(id: string, spec: SpecInput): Promise<void> {
    return this.update(id, spec, true)
  }
  async setData(name: string, value: unknown): Promise<void> {
    if (this.data.get(name)?.value === value) return
    this.data.set(name, { value, exporterId: null })
    for (const id of this.#importersOf([name])) this.wake(id, [id], 'scope')
  }
  async deleteData(name: string): Promise<void> {
    if (!this.data.delete(name)) return
    for (const id of this.#importersOf([name])) this.wake(id, [id], 'scope')
  }
  wake(rootId: string, ids: readonly string[], reason: string | null = null): void {
    this.#wakes.set(rootId, [...(this.#wakes.get(rootId) ?? []), { ids, reason }])
  }
  async #command(id: string, write: (slice: TreeSlice) => void): Promise<void> {
    const slice = await this.#lock(id, [], new Map())
    write(slice)
    this.wake(id, [id])
    await this.#commit(slice)
  }

  // Agents.

  /** The claim counts as the pickup. */
  async claim(itemId: string, leaseMs: number = LEASE_MS.most): Promise<void> {
    const { row } = this.rows.of(itemId)
    await this.#decide(row.rootId, [itemId], (slice) => {
      const item = slice.nodes.get(itemId) as TrackedObject
      if (!isClaimable(item, slice)) throw new Error(`${row.name} is not offered`)
      const attempt = (item.work?.attempt ?? 0) + 1
      const leaseUntil = leaseFrom(slice.now, leaseMs)
      slice.setWork(item, { state: WORK_STATE.CLAIMED, attempt, leaseUntil, offerAfter: null })
      deployments.claimed(item, DEPLOYER, slice, null)
    })
  }
  async claimItems(items: readonly SeenObject[], leaseMs: number): Promise<void> {
    for (const { id } of items) await this.claim(id, leaseMs)
  }
  tie(itemId: string): void {
    this.rows.tie(itemId)
  }
  untie(itemId: string): void {
    this.rows.untie(itemId)
  }
  async objects(): Promise<readonly SeenObject[]> {
    return [...this.rows.all.values()].map(({ row, work, error }) => {
      const { id, kind, phase, jobId, finishedJobId, waitingFor } = row
      const seen = { id, kind, phase, jobId, finishedJobId, waitingFor, work, code: error?.code ?? null }
      return { ...seen, path: this.#pathOf(id), begun: this.begun.get(id) ?? 0 }
    })
  }
  #pathOf(id: string): string {
    const { row } = this.rows.of(id)
    return row.parentId === null ? row.name : `${this.#pathOf(row.parentId)}/${row.name}`
  }
  /** Applies what an agent or a user does to an item, in one transaction. */
  act(itemId: string, apply: (item: TrackedObject, slice: TreeSlice) => void): Promise<void> {
    return this.#decide(this.rows.of(itemId).row.rootId, [itemId], (slice) => {
      const item = slice.nodes.get(itemId) as TrackedObject
      apply(item, slice)
    })
  }
  /** Reports of one tree, in one transaction. */
  async report(rootId: string, reports: readonly Reported[]): Promise<void> {
    await this.#decide(
      rootId,
      reports.map(({ itemId }) => itemId),
      (slice) => {
        for (const { itemId, answer, v } of reports) {
          const item = slice.nodes.get(itemId) as TrackedObject
          const { action } = item.work as Work
          if (isGate(item)) {
            const decision = { by: DEPLOYER, message: 'Got the signal go.', exports: { v } }
            gates.write(item, { ...(gates.waiting(item) as Gate), decision }, slice)
            slice.touch(item)
          } else deployments.report(item, { fence: '', ...reportOf(answer, action, v) }, DEPLOYER, slice)
        }
      },
    )
  }

  // The engine.

  /** Moves the time, and decides about all objects whose clock, timeout or watched lease has ended. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms)
    const now = this.clock.now()
    for (const { row, work, clock } of this.rows.all.values()) {
      if (isDue(clock, now)) this.wake(row.rootId, [row.id])
      if (!work || work.state === WORK_STATE.DONE) continue
      const isLost = work.leaseWatched && work.state === WORK_STATE.CLAIMED && isDue(work.leaseUntil, now)
      if (isLost || isDue(work.dueAt, now)) this.wake(row.rootId, [row.id])
    }
    await this.settle()
  }

  /** Decides every tree that has wake requests, until none has, or in so many transactions. */
  async settle(most = Number.POSITIVE_INFINITY): Promise<void> {
    this.#left = most
    for (let due = [...this.#wakes.keys()]; due.length > 0 && this.#left > 0; due = [...this.#wakes.keys()])
      for (const rootId of due) await this.#reconcile(rootId)
  }
  async #reconcile(rootId: string): Promise<void> {
    let evaluated: ReadonlyMap<string, Evaluated> = new Map()
    for (let turns = 0; ; turns++) {
      if (turns > MOST_TURNS) throw new Error(`the tree ${rootId} does not come to rest`)
      if (this.#left-- <= 0) return
      const wakes = this.#wakes.get(rootId) ?? []
      this.#wakes.delete(rootId)
      if (!this.rows.all.has(rootId)) return
      const slice = await this.#lock(
        rootId,
        wakes.flatMap(({ ids }) => ids),
        evaluated,
      )
      for (const { ids, reason } of wakes)
        for (const id of ids) {
          const tracked = slice.nodes.get(id)
          if (!tracked) continue
          if (reason) slice.runRule(tracked, () => deployments.onWake(tracked, reason, slice))
          slice.touch(tracked)
        }
      const undecided = await runToFixpoint(CLIENT, slice, this.#kinds, this.#options.budget)
      if (undecided.size > 0) this.wake(rootId, [...undecided])
      await this.#commit(slice)
      if (slice.evaluations.size > 0)
        evaluated = new Map([...slice.evaluations.values()].map((one) => [one.key, evaluate(one)]))
      else if (evaluated.size === 0 || undecided.size === 0) return
    }
  }
  async #decide(rootId: string, ids: readonly string[], apply: (slice: TreeSlice) => void): Promise<void> {
    const slice = await this.#lock(rootId, ids, new Map())
    apply(slice)
    const undecided = await runToFixpoint(CLIENT, slice, this.#kinds, this.#options.budget)
    if (undecided.size > 0) this.wake(rootId, [...undecided])
    await this.#commit(slice)
  }

  async #lock(rootId: string, ids: readonly string[], evaluated: ReadonlyMap<string, Evaluated>): Promise<TreeSlice> {
    const slice = this.#slice(new TrackedObject(this.rows.of(rootId), true), evaluated)
    await load(CLIENT, slice, this.#kinds, ids)
    return slice
  }
  #slice(root: TrackedObject, evaluated: ReadonlyMap<string, Evaluated>): TreeSlice {
    const Slice = this.#options.Slice ?? TreeSlice
    const system = this.clock
    return new Slice({
      root,
      projectName: 'p',
      evaluated,
      now: system.now(),
      system,
      timeouts: TIMEOUTS,
      kinds: this.#kinds,
    })
  }
  async #commit(slice: TreeSlice): Promise<void> {
    for (const { objectId, to } of slice.changes)
      if (to === 'INIT') this.begun.set(objectId, (this.begun.get(objectId) ?? 0) + 1)
    const effects = slice.effects.splice(0)
    const run = async () => {
      for (const { name, args } of effects) {
        const write = this.#effects[name as keyof FamilyEffects] as RunEffect<never> | undefined
        await write?.(CLIENT, slice.root, args as never, slice.now, () => undefined)
      }
    }
    if (slice.root.gone) await run()
    flush(CLIENT, [slice], this.#kinds)
    if (!slice.root.gone) await run()
  }

  // The family's questions to the database, and its writes.

  readonly #questions: Family['questions'] = {
    dependencyCounts: async (_client, _root, parents) =>
      parents.map((id) => this.#edgeCounts(id, (one) => one.dependencies.length)),
    dependentCounts: async (_client, _root, parents) =>
      parents.map((id) => this.#edgeCounts(id, ({ row }) => this.rows.dependents(row.id).length)),
    containsOutdated: async (_client, _root, ids) => {
      const isOutdated = (id: string): boolean =>
        this.rows.below(id).some((one) => {
          const { row } = one
          if (row.kind !== 'INSTALLATION' || installation(one as unknown as Node).ignored) return false
          return row.generation !== row.observedGeneration || isOutdated(row.id)
        })
      return ids.map((id) => isOutdated(id))
    },
    childCount: async (_client, _root, parents) => parents.map((id) => this.rows.below(id).length),
    failedChildren: async (_client, _root, parents) =>
      parents.map((id) => {
        const { jobId } = this.rows.of(id).row
        return this.rows
          .below(id)
          .filter(({ row }) => row.jobId === jobId && ['FAILED', 'ABORTED', 'DELETE_FAILED'].includes(row.phase))
          .map(({ row }) => ({ objectId: row.id, kind: row.kind, name: row.name, code: 'FAILED', message: '' }))
      }),
    treeItems: async (_client, rootId) => {
      const all = [...this.rows.all.values()].filter(({ row }) => row.rootId === rootId && row.kind === 'DEPLOY_ITEM')
      return [all.length]
    },
    itemExports: async (_client, _root, argsList) =>
      argsList.map(({ executionId }) =>
        this.rows.below(executionId).flatMap(({ row, details, spec }) => {
          const { exports } = details as { exports: Readonly<Record<string, unknown>> | null }
          return exports ? [{ name: row.name, each: (spec as ItemSpec).each ?? null, exports }] : []
        }),
      ),
    rootScope: async (_client, _root, all) => all.map((args) => this.#scopeOf(args.names)),
    pinScope: async (_client, root, all) =>
      all.map((args) => {
        const scope = this.#scopeOf(args.names)
        for (const { exporter } of scope) if (exporter) this.#pinned(exporter.id).add(root)
        return scope
      }),
    specSnapshot: async (_client, _root, all) =>
      all.map(({ id, generation }) => {
        const kept = this.#snapshots.get(id)
        return kept?.generation === generation ? kept.spec : null
      }),
    mayReconcile: async (_client, _root, all) => all.map(() => ({ isHeld: this.isHeld, missing: null })),
    importers: async (_client, root, all) =>
      all.map(() =>
        [...new Set([...this.#pinned(root), ...this.#importersOf(this.#exportsOf(root), root)])].flatMap(
          (id): readonly Importer[] => {
            const found = this.rows.all.get(id)
            if (!found) return []
            const { nextDeletion } = installation(found as unknown as Node)
            return [{ id, name: found.row.name, deleting: isBeingDeleted({ ...found.row, nextDeletion }) }]
          },
        ),
      ),
  }
  readonly #effects: Family['effects'] = {
    succeeded: async (_client, { row: { id } }, values) => {
      const importers = this.#importersOf(this.#exportsOf(id), id)
      for (const [name, { exporterId }] of this.data) if (exporterId === id && !(name in values)) this.data.delete(name)
      for (const [name, value] of Object.entries(values)) this.data.set(name, { value, exporterId: id })
      for (const importer of importers) this.wake(importer, [importer], 'scope')
      const exporters = this.#declaredExportersOf(id)
      for (const [exporter, pins] of this.#pins) if (!exporters.includes(exporter)) pins.delete(id)
      return []
    },
    ready: async (_client, { row: { id } }) => this.#wakeAll(this.#importersOf(this.#exportsOf(id), id)),
    rootGone: async (_client, { row: { id } }) => {
      this.#wakeAll([...this.#importersOf(this.#exportsOf(id), id), ...this.#exportersOf(id)])
      for (const [name, { exporterId }] of this.data) if (exporterId === id) this.data.delete(name)
      this.#scope.delete(id)
      for (const importers of this.#pins.values()) importers.delete(id)
      this.#pins.delete(id)
      return []
    },
    deletionFailed: async (_client, { row: { id } }) =>
      this.#wakeAll([...this.#exportersOf(id), ...this.#importersOf(this.#exportsOf(id), id)]),
    runEnded: async () => [],
    endWaits: async (_client, { row: { id } }) => {
      const waiting = [...this.rows.all.values()].filter(
        ({ row, work }) => row.rootId === id && (work?.offerAfter || work?.type === 'gate'),
      )
      this.wake(
        id,
        waiting.map(({ row }) => row.id),
      )
      return []
    },
    editedJobEnded: async (_client, { row: { id } }) => {
      this.#snapshots.delete(id)
      return []
    },
  }
  #wakeAll(rootIds: readonly string[]): readonly string[] {
    for (const id of new Set(rootIds)) if (this.rows.all.has(id)) this.wake(id, [id])
    return []
  }
  #edgeCounts(parentId: string, count: (one: Stored) => number): Readonly<Record<string, number>> {
    return Object.fromEntries(
      this.rows.below(parentId).flatMap((one) => (count(one) > 0 ? [[one.row.id, count(one)]] : [])),
    )
  }
  #declare(id: string, { exports, imports }: InstallationSpec): void {
    this.#scope.set(id, { exports: exports.map(({ name }) => name), imports: imports.map(({ from }) => from) })
  }
  #pinned(exporterId: string): Set<string> {
    const found = this.#pins.get(exporterId) ?? new Set()
    this.#pins.set(exporterId, found)
    return found
  }
  #exportsOf(id: string): readonly string[] {
    const own = [...this.data].flatMap(([name, { exporterId }]) => (exporterId === id ? [name] : []))
    return [...new Set([...(this.#scope.get(id)?.exports ?? []), ...own])]
  }
  #importersOf(names: readonly string[], but?: string): readonly string[] {
    return [...this.#scope].flatMap(([id, { imports }]) =>
      id !== but && imports.some((name) => names.includes(name)) ? [id] : [],
    )
  }
  #declaredExportersOf(importerId: string): readonly string[] {
    const { imports = [] } = this.#scope.get(importerId) ?? {}
    return [...this.#scope].flatMap(([id, { exports }]) => (exports.some((name) => imports.includes(name)) ? [id] : []))
  }
  #exportersOf(importerId: string): readonly string[] {
    const pinned = [...this.#pins].flatMap(([id, importers]) => (importers.has(importerId) ? [id] : []))
    return [...pinned, ...this.#declaredExportersOf(importerId)]
  }
  #scopeOf(names: readonly string[]): readonly ScopeEntry[] {
    return names.map((name) => {
      const datum = this.data.get(name)
      const declared = [...this.#scope].find(([, { exports }]) => exports.includes(name))?.[0]
      const exporterId = declared ?? datum?.exporterId
      const found = exporterId ? this.rows.all.get(exporterId) : undefined
      const state = found && { ...found.row, ...installation(found as unknown as Node) }
      return {
        name,
        exists: datum !== undefined,
        value: datum?.value,
        exporter: state
          ? { id: state.id, name: state.name, ready: !declared || isReady(state), going: isBeingDeleted(state) }
          : null,
      }
    })
  }
}

function normalised(spec: SpecInput): InstallationSpec {
  const problems = new Problems()
  const stored = normaliseSpec(spec, 'spec', problems)
  if (problems.found.length > 0) throw new Error(JSON.stringify(problems.found))
  return stored
}

/** Expressions are paths, and a schema lists values: what the sandbox makes of others is tested there. */
function evaluate({ job }: Evaluation): Evaluated {
  if (job.type === 'validate') {
    const isValid = (job.schema as { readonly enum: readonly unknown[] }).enum.includes(job.value)
    return isValid ? { ok: true, value: null } : { ok: false, message: 'must be one of the values' }
  }
  const { scope } = job
  let isKnown = true
  const resolve = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const path = /^\$\{(.+)\}$/.exec(value)?.[1]
      if (!path) return value
      const found = path
        .split('.')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], scope)
      isKnown &&= found !== undefined
      return found
    }
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, resolve(own)]))
    return value
  }
  const value = resolve(job.template)
  return isKnown ? { ok: true, value } : { ok: false, message: 'no such key' }
}
