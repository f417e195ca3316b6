import type { QueryResult } from 'pg'
import type { Viewer } from '../../../../src/core/ports/viewer.ts'
import { WORK_STATE } from '../../../../src/core/tree.ts'
import type { Phase } from '../../../../src/core/vocabulary.ts'
import { type ConnectCrm, connectCrm } from '../../../../src/families/edge/commands/connect-crm.ts'
import {
  cancelInstance,
  createInstance,
  deleteInstance,
  updateInstance,
} from '../../../../src/families/edge/commands/instances.ts'
import type { EdgeParts } from '../../../../src/families/edge/commands/parts.ts'
import { cloudletDetails, type InstanceDetails, instanceDetails } from '../../../../src/families/edge/rules/details.ts'
import type { InstanceKind } from '../../../../src/families/edge/rules/kinds.ts'
import { actionOf, type FenceParts, fenceParts } from '../../../../src/families/edge/rules/requests.ts'
import { rules as edge } from '../../../../src/families/edge/server.ts'
import { requestFence } from '../../../../src/families/edge/store/fences.ts'
import type { LockedTree } from '../../../../src/families/family.ts'
import type { Client } from '../../../../src/store/client.ts'
import { openFence, sameHash } from '../../../../src/store/fence.ts'
import { viewerOf } from '../../../testkit/viewers.ts'
import { USER } from '../../../testkit/world.ts'
import { ModelNode, type ModelRecord, ModelSlice, NOW } from './slice.ts'
import {
  ageOf,
  type Crm,
  cloudletOf,
  instanceAt,
  type Place,
  placeOf,
  processName,
  type Request,
  type ServerState,
  type State,
} from './state.ts'
import { Violation } from './violation.ts'

/**
 * The server in memory: the real commands and the real rules on a tree in memory. It models transactions of the engine: a
 * command enqueues wake requests, a report is decided at once.
 */

const CRM: Viewer = viewerOf('AGENT', { name: 'crm', actor: 'CRM' })

export const sliceOf = ({ records, next, leases }: ServerState): ModelSlice => new ModelSlice(records, { next, leases })

const contentOf = (slice: ModelSlice): Omit<ServerState, 'wakes'> => ({
  records: slice.records(),
  leases: slice.leases(),
  next: slice.next,
})

/** Answers the statements of the commands from the slice; any other one is a failure of the model. */
function clientOf(slice: ModelSlice, leases: Set<number>): Client {
  const answers: Readonly<Record<string, (values: readonly unknown[]) => readonly object[]>> = {
    'find-object': ([id]) => {
      const node = slice.get(id as string)
      return node ? [{ id, rootId: slice.root.row.id, kind: node.row.kind, projectName: 'default' }] : []
    },
    'edge-children': ([id]) => [...slice.nodes.values()].filter(({ row }) => row.parentId === id).map(idRow),
    'edge-spec': ([id]) => [{ spec: slice.get(id as string)?.spec }],
    'edge-instances': () =>
      [...slice.nodes.values()]
        .filter((node) => node !== slice.root)
        .map((node) => ({ ...idRow(node), path: pathOf(slice, node).join('/') })),
    'edge-in-transition': () => [...slice.nodes.values()].filter(isMoving).map(idRow),
    'outstanding-crm-requests': () => [],
    'note-agent': () => [],
    'keep-crm-lease': ([, epoch]) => {
      leases.add(epoch as number)
      return []
    },
  }
  return {
    query: <R>({ name = '', values = [] }: { name?: string; values?: unknown[] }) => {
      const answer = answers[name]
      if (!answer) throw new Error(`the model does not know the statement ${name}`)
      return Promise.resolve({ rows: answer(values) as readonly R[] } as never as QueryResult<never>)
    },
  }
}
const idRow = ({ row }: ModelNode) => ({ id: row.id })
const isMoving = ({ row }: ModelNode): boolean => row.kind !== 'CLOUDLET' && row.phase !== 'READY'
function pathOf(slice: ModelSlice, node: ModelNode): readonly string[] {
  const parent = slice.parent(node)
  return parent ? [...pathOf(slice, parent), node.row.name] : [node.row.name]
}

/** Runs one command under the tree's lock. A refused one changes nothing. */
export async function command<S extends ServerState>(
  state: S,
  run: (parts: EdgeParts) => Promise<{ readonly ok: boolean }>,
): Promise<S | null> {
  const slice = sliceOf(state)
  const leases = new Set(state.leases)
  const wakes = new Set(state.wakes)
  const client = clientOf(slice, leases)
  const tree: LockedTree = {
    client,
    slice,
    root: slice.root,
    projectName: 'model',
    isNew: false,
    pipeline: () => {},
    load: () => Promise.resolve(),
    wake: (ids) => {
      for (const id of ids) wakes.add(id)
    },
    answer: () => {
      throw new Error('the model foresees no answer')
    },
    pause: () => {
      throw new Error('the model pauses nothing')
    },
    decideNow: () => {
      throw new Error('only a new tree is decided before the commit')
    },
    reject: () => {},
  }
  const never = () => Promise.reject(new Error('the model has one tree'))
  const parts: EdgeParts = {
    pool: client,
    editorTypes: new Set(),
    system: { now: () => NOW, fixedTime: NOW, id: slice.newId, random: () => 0, secret: () => new Uint8Array(16) },
    trees: { inRecord: never, inProject: never, inTree: (_rootId, work) => work(tree) },
  }
  const outcome = await run(parts)
  if (!outcome.ok) return null
  const running = [...leases].filter((epoch) => !slice.ended.has(epoch))
  return { ...state, ...contentOf(slice), leases: running, wakes: alive(slice, wakes) }
}
const alive = (slice: ModelSlice, ids: Iterable<string>): readonly string[] =>
  [...new Set(ids)].filter((id) => slice.get(id)?.gone === false)

// Commands of users.

const kindOf = (place: Place): InstanceKind => (place === 'c' ? 'CLUSTER_INST' : 'APP_INST')
const idAt = (state: State, place: Place): string | null => instanceAt(state, place)?.row.id ?? null

export function create(state: State, place: Place): Promise<State | null> {
  const parentId = place === 'c' ? cloudletOf(state).row.id : idAt(state, 'c')
  if (!parentId) return Promise.resolve(null)
  const input = { kind: kindOf(place), parentId, name: place, spec: { v: 1 } }
  return command(state, (parts) => createInstance(parts, USER, input))
}
export function update(state: State, place: Place): Promise<State | null> {
  const record = instanceAt(state, place)
  if (!record) return Promise.resolve(null)
  const { id } = record.row
  const spec = { v: (record.details as InstanceDetails).lastRevision + 1 }
  return command(state, (parts) => updateInstance(parts, USER, { kind: kindOf(place), id, spec }))
}
export function remove(state: State, place: Place, cascade: boolean): Promise<State | null> {
  const id = idAt(state, place)
  return id
    ? command(state, (parts) => deleteInstance(parts, USER, { kind: kindOf(place), id, cascade }))
    : Promise.resolve(null)
}
export function withdraw(state: State, place: Place): Promise<State | null> {
  const id = idAt(state, place)
  return id
    ? command(state, (parts) => cancelInstance(parts, USER, { kind: kindOf(place), id }))
    : Promise.resolve(null)
}

// Calls of CRMs.

export function connect<S extends ServerState>(state: S, input: ConnectCrm): Promise<S | null> {
  return command(state, (parts) => connectCrm(parts, CRM, input))
}
export const connection = (state: State, { process, calls }: Crm, objects: ConnectCrm['objects']): ConnectCrm => ({
  cloudletId: cloudletOf(state).row.id,
  instance: processName(process),
  role: 'CRM',
  version: '1',
  leaseMs: 30_000,
  call: calls,
  objects,
})

/** A CRM's report, and the operation that it concerns. */
export interface CrmReport {
  readonly fence: string
  readonly phase: Phase
  readonly operationId: string
}
/** Models `reportOne` of the engine and the rules that run in the same transaction. `accepted`: from the CRM's view. */
export function report<S extends ServerState>(
  state: S,
  { fence: text, phase, operationId }: CrmReport,
): { readonly state: S; readonly accepted: boolean } {
  const slice = sliceOf(state)
  const fence = openFence(text)
  if (!fence) throw new Error('the model made a wrong fence')
  const node = slice.get(fence.objectId)
  if (!node) return { state, accepted: phase === 'NOT_PRESENT' }
  const holds = sameHash(node.work?.fenceHash ?? null, fence.hash) || edge.holds?.(node, fence.hash, CRM.principalId)
  if (!holds) return { state, accepted: false }
  const { jobId } = node.row
  const verdict = edge.report(node, { fence: text, phase }, CRM, slice)
  runToFixpoint(slice)
  if (slice.moved.length > 0 && operationId !== jobId)
    throw new Violation(`a report of an operation that is over has moved ${node.row.name}`)
  return { state: { ...state, ...contentOf(slice), wakes: alive(slice, state.wakes) }, accepted: verdict.ok }
}

/** Runs the rules of touched objects to the fixpoint. */
function runToFixpoint(slice: ModelSlice): void {
  for (let runs = 0; slice.touched.size > 0; runs++) {
    if (runs > 100) throw new Violation('the tree does not reach a fixpoint')
    for (const node of slice.touched) {
      slice.touched.delete(node)
      if (!node.gone) edge.decide(node, slice)
    }
  }
}

// Actions of the engine.

/** Decides the objects with wake requests. */
export function runEngine<S extends ServerState>(state: S): S {
  const slice = sliceOf(state)
  for (const id of state.wakes) {
    const node = slice.get(id)
    if (node) slice.touch(node)
  }
  runToFixpoint(slice)
  return { ...state, ...contentOf(slice), wakes: [] }
}

/** The inactivity deadline of a request has passed. */
export function deadline(state: State, place: Place): State | null {
  const slice = sliceOf(state)
  const node = [...slice.nodes.values()].find((one) => one.row.kind === kindOf(place))
  if (!node?.work?.dueAt) return null
  slice.setWork(node, { dueAt: new Date(0) })
  slice.touch(node)
  runToFixpoint(slice)
  return { ...state, ...contentOf(slice), wakes: alive(slice, state.wakes) }
}

/** The lease of a session has ended. */
export function expire<S extends ServerState>(state: S, epoch: number): S {
  const { id } = cloudletOf(state).row
  const leases = state.leases.filter((one) => one !== epoch)
  return { ...state, leases, wakes: [...new Set([...state.wakes, id])] }
}

const REQUESTED: readonly Phase[] = ['CREATE_REQUESTED', 'UPDATE_REQUESTED', 'DELETE_REQUESTED']
const WORKING: readonly Phase[] = ['CREATING', 'UPDATING', 'DELETING']

/** As the statement of requests-of.ts has it: the requests to the process; `includesBegun` when it is a new one. */
export function outstanding(state: State, includesBegun: boolean): readonly Request[] {
  const instance = processName(state.crm.process)
  const root = new ModelNode(cloudletOf(state))
  const session = cloudletDetails(root).sessions.find((one) => one.instance === instance)
  if (!session) return []
  return state.records.slice(1).flatMap((record) => {
    const { work, row } = record
    const isRequested = work?.state === WORK_STATE.CLAIMED && work.fenceHash !== null && work.instance === instance
    const details = record.details as InstanceDetails
    const waits = REQUESTED.includes(row.phase) || details.undoing || (includesBegun && WORKING.includes(row.phase))
    return isRequested && waits ? [requestOf(record, session)] : []
  })
}

/** States share most of their fences, and making one takes longer than all else. */
const fences = new Map<string, string>()
function fenceOf(parts: FenceParts): string {
  const key = `${parts.salt} ${parts.objectId} ${parts.operationId} ${parts.attempt}`
  const known = fences.get(key)
  if (known !== undefined) return known
  const { fence } = requestFence(parts)
  fences.set(key, fence)
  return fence
}

function requestOf(record: ModelRecord, session: Parameters<typeof fenceParts>[1]): Request {
  const node = new ModelNode(record)
  const { specRevision, keptRevision, keptSpec, undoing } = instanceDetails(node)
  const parts = fenceParts(node, session)
  const action = actionOf(node) ?? 'DELETE'
  return {
    place: placeOf(node.row.kind),
    fence: fenceOf(parts),
    age: ageOf(parts.operationId, parts.attempt, Number(session.instance.slice(1))),
    owner: node.row.id,
    action,
    rev: action !== 'DELETE' && undoing && keptSpec ? (keptRevision ?? 0) : specRevision,
  }
}
