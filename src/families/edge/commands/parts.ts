import type { EditorTypes } from '../../../core/deployers/item-types.ts'
import type { RefusalOf } from '../../../core/errors.ts'
import type { Refused } from '../../../core/ports/outcome.ts'
import type { System } from '../../../core/ports/system.ts'
import type { Right } from '../../../core/rights.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import { uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { type CommandAccess, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { cloudletDetails, isUpgrading, servingSession } from '../rules/details.ts'
import type { EdgeKind } from '../rules/kinds.ts'
import { dispatchTo, fenceParts } from '../rules/requests.ts'
import { requestFence } from '../store/fences.ts'

export interface EdgeParts extends CommandAccess {
  readonly system: System
  readonly editorTypes: EditorTypes
}

/** As messages name them. */
export const KIND_NOUNS = {
  CLOUDLET: 'cloudlet',
  CLUSTER_INST: 'cluster instance',
  APP_INST: 'app instance',
} as const satisfies Readonly<Record<EdgeKind, string>>

/** How a command finds an object of this kind. */
export const at = (right: Right, id: string, kind: EdgeKind) => ({ right, id, kind, what: KIND_NOUNS[kind] })

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
