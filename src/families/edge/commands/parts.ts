import type { EditorTypes } from '../../../core/deployers/item-types.ts'
import { notFound, type Refusal, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome, Refused, WrittenObject } from '../../../core/ports/outcome.ts'
import type { System } from '../../../core/ports/system.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Right } from '../../../core/rights.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import type { Client } from '../../../store/client.ts'
import { uuid } from '../../../store/column-types.ts'
import type { KeyedRequest } from '../../../store/idempotency.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { findFor, inTree, onceInTree, refuse } from '../../access.ts'
import type { LockedTree, Trees } from '../../family.ts'
import { cloudletDetails, isUpgrading, servingSession } from '../rules/details.ts'
import type { EdgeKind } from '../rules/kinds.ts'
import { dispatchTo, fenceParts } from '../rules/requests.ts'
import { requestFence } from '../store/fences.ts'

export interface EdgeParts {
  readonly trees: Trees
  readonly system: System
  readonly editorTypes: EditorTypes
  /** For finding the tree of an object before locking it. */
  readonly client: Client
}

/** As messages name them. */
export const KIND_NOUNS = {
  CLOUDLET: 'cloudlet',
  CLUSTER_INST: 'cluster instance',
  APP_INST: 'app instance',
} as const satisfies Readonly<Record<EdgeKind, string>>

interface Located {
  readonly id: string
  readonly kind: EdgeKind
}
type ObjectWork<R extends Refusal> = (
  tree: LockedTree,
  node: Node,
) => Promise<Outcome<WrittenObject, R>> | Outcome<WrittenObject, R>
type Inaccessible = RefusalOf<'NotFoundError' | 'ForbiddenError'>

/** Runs on one object under the lock of its tree, with its ancestors in memory. */
export async function onObject<R extends Refusal>(
  { client, trees }: EdgeParts,
  viewer: Viewer,
  right: Right,
  at: Located,
  work: ObjectWork<R>,
): Promise<Outcome<WrittenObject, R | Inaccessible>> {
  const { id, what } = { ...at, what: KIND_NOUNS[at.kind] }
  const located = await findFor(client, viewer, right, { ...at, what })
  if (!located.ok) return located
  return (await inTree(trees, viewer, located.found.rootId, loaded(at, work))) ?? refuse(notFound(id, what))
}

/** The same for a request that is run once, however often it is sent with its key. */
export async function onceOnObject<R extends Refusal>(
  { client, trees }: EdgeParts,
  viewer: Viewer,
  right: Right,
  { request, ...at }: Located & { readonly request: KeyedRequest },
  work: ObjectWork<R>,
): Promise<Outcome<WrittenObject, R | Inaccessible | RefusalOf<'InvalidInputError'>>> {
  const { id, what } = { ...at, what: KIND_NOUNS[at.kind] }
  const located = await findFor(client, viewer, right, { ...at, what })
  if (!located.ok) return located
  const done = await onceInTree(trees, viewer, located.found.rootId, request, loaded(at, work))
  return done ?? refuse(notFound(id, what))
}

const loaded =
  <R extends Refusal>({ id, kind }: Located, work: ObjectWork<R>) =>
  async (tree: LockedTree): Promise<Outcome<WrittenObject, R | Inaccessible>> => {
    await tree.load([id])
    const node = tree.slice.get(id)
    return node ? await work(tree, node) : refuse(notFound(id, KIND_NOUNS[kind]))
  }

const EDGE_CHILDREN = statement({
  name: 'edge-children',
  text: 'select id from object where parent_id = $1 order by ordinal, id',
  params: [uuid],
  row: { id: table.object.id },
})

/** Loads the direct children. */
export async function childrenOf(tree: LockedTree, node: Node): Promise<readonly Node[]> {
  const { rows } = await EDGE_CHILDREN.query(tree.client, [node.row.id])
  await tree.load(rows.map(({ id }) => id))
  return rows.flatMap(({ id }) => tree.slice.get(id) ?? [])
}

/** Dispatches a request to the connected CRM in the transaction that creates it. */
export function dispatchNow(node: Node, slice: Slice): void {
  const session = servingSession(slice.root)
  if (session && slice.root.row.phase === 'READY')
    dispatchTo(node, slice, session, requestFence(fenceParts(node, session)).hash)
}

export type Conflict = Refused<RefusalOf<'ConflictError'>>
type Code = RefusalOf<'ConflictError'>['code']
export const inTheWay = (code: Code, { row }: Node, message: string): Conflict =>
  refuse({ type: 'ConflictError', code, message, objectId: row.id })

/** Refuses changes below a cloudlet that is paused, during an upgrade, and after a failed one. */
export function cloudletInTheWay({ root: cloudlet, slice }: Pick<LockedTree, 'root' | 'slice'>): Conflict | null {
  const { name } = cloudlet.row
  if (slice.isPaused) return inTheWay('PAUSED', cloudlet, `The cloudlet ${name} is paused: resume it first.`)
  const running = `The cloudlet ${name} is being upgraded: wait until that has ended.`
  if (isUpgrading(cloudlet)) return inTheWay('CLOUDLET_UPGRADING', cloudlet, running)
  if (cloudletDetails(cloudlet).upgradePhase !== 'UPDATE_ERROR') return null
  const failed = `An upgrade of the cloudlet ${name} has failed: an administrator has to put it right (resolveCloudletUpgrade).`
  return inTheWay('CLOUDLET_UPGRADE_FAILED', cloudlet, failed)
}

export const busy = (node: Node): Conflict =>
  inTheWay('BUSY', node, `${nameOf(node)} is ${node.row.phase}: wait until that has ended.`)

export const nameOf = ({ row }: Node): string => `The ${KIND_NOUNS[row.kind as EdgeKind]} ${row.name}`
