import { invalidInput, transitionRefused } from '../../../core/errors.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import { allowedFrom } from '../../../core/machine.ts'
import type { Principal, Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import type { Node } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { uuid } from '../../../store/column-types.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { type CommandResult, onObject, refuse } from '../../access.ts'
import { creates, type Judged } from '../../creation.ts'
import type { LockedProject, LockedTree } from '../../family.ts'
import { rootNameTaken } from '../../root-name.ts'
import { cloudletUpgrade, cloudlet as connection } from '../machines.ts'
import { rights } from '../rights.ts'
import { cloudletDetails } from '../rules/details.ts'
import { endRequest, newRequest } from '../rules/requests.ts'
import { moveUpgrade, upgradeHeard } from '../rules/upgrade.ts'
import {
  at,
  type Conflict,
  childrenOf,
  cloudletInTheWay,
  dispatchNow,
  type EdgeParts,
  inTheWay,
  nameOf,
} from './parts.ts'

/** Commands of users on cloudlets. */

type CloudletResult = CommandResult<
  'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'TransitionError' | 'ForbiddenError'
>

interface NewCloudlet {
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
}
export const createCloudlet = creates('createCloudlet', { right: rights.createCloudlet, judge })

async function judge(_: EdgeParts, by: Viewer, { name, labels: given }: NewCloudlet): Promise<Judged<'ConflictError'>> {
  const problems = new Problems()
  if (!isName(name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(given ?? [], problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return { ok: true, canShare: true, write: (project) => write(project, by, { name, labels }) }
}

async function write(
  project: LockedProject,
  by: Viewer,
  { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): Promise<CommandResult<'ConflictError'>> {
  const taken = await rootNameTaken(project, { kind: 'CLOUDLET', name, what: 'a cloudlet' })
  if (taken) return refuse(taken)
  const { slice, root } = project.createRoot({ kind: 'CLOUDLET', name, spec: {}, labels, by, details: {} })
  const connectDue = new Date(slice.now.getTime() + slice.timeouts.crmSilenceMs)
  slice.move(root, 'INIT', { actor: 'USER', by })
  slice.setDetails(root, { connectDue })
  slice.setClock(root, connectDue)
  return { ok: true, objectId: root.row.id, object: root }
}

export interface DeleteCloudlet {
  readonly id: string
  readonly cascade: boolean
}
export const deleteCloudlet = (
  parts: EdgeParts,
  viewer: Viewer,
  { id, cascade }: DeleteCloudlet,
): Promise<CloudletResult> =>
  onObject(parts, viewer, at(rights.deleteCloudlet, id, 'CLOUDLET'), async (tree, node): Promise<CloudletResult> => {
    const { slice } = tree
    const { phase } = node.row
    if (phase !== 'OFFLINE') {
      const message = `${nameOf(node)} is ${phase}: end its CRM first, so that it is OFFLINE.`
      tree.reject(node, 'GONE', viewer, message)
      const allowed = allowedFrom(connection, phase, 'USER')
      return refuse({ ...transitionRefused('CLOUDLET', phase, 'USER', 'GONE', allowed), message })
    }
    const clusters = await childrenOf(tree, node)
    if (clusters.length > 0 && !cascade) return inUse(clusters)
    const apps: Node[] = []
    for (const cluster of clusters) apps.push(...(await childrenOf(tree, cluster)))
    for (const one of [...apps, ...clusters]) {
      endRequest(one, slice)
      slice.move(one, 'GONE', { by: viewer })
    }
    endRequest(node, slice)
    slice.move(node, 'GONE', { actor: 'USER', by: viewer })
    return { ok: true, objectId: id }
  })

/** Names some of the objects that use the cloudlet; the error refers to the first. */
export function inUse(children: readonly Node[]): Conflict {
  const [first] = children as [Node, ...Node[]]
  const names = children.slice(0, 10).map(({ row }) => row.name)
  const more = children.length > names.length ? ` and ${children.length - names.length} more` : ''
  const message = `It is in use by ${names.join(', ')}${more}: delete them first, or all together with cascade.`
  return inTheWay('IN_USE', first, message)
}

export interface UpgradeCloudlet extends Keyed {
  readonly id: string
  readonly version: string
}
export const upgradeCloudlet = (parts: EdgeParts, viewer: Viewer, input: UpgradeCloudlet): Promise<CloudletResult> =>
  onObject(
    parts,
    viewer,
    { ...at(rights.upgradeCloudlet, input.id, 'CLOUDLET'), once: byKey('upgradeCloudlet', input) },
    async (tree, node): Promise<CloudletResult> => {
      const { id, version } = input
      if (!isVersion(version)) return refuse(invalidInput([{ path: 'input.version', message: VERSION_RULE }]))
      const { phase, name } = node.row
      const stopped = cloudletInTheWay(tree)
      if (stopped) return stopped
      if (phase !== 'READY')
        return inTheWay('NOT_READY', node, `The cloudlet ${name} is ${phase}: its CRM is not connected.`)
      const moving = await inTransition(tree)
      if (moving)
        return inTheWay('BUSY', moving, `${nameOf(moving)} is ${moving.row.phase}: an upgrade has to wait for it.`)
      startUpgrade(tree, node, { version, by: viewer, operationId: parts.system.id() })
      return { ok: true, objectId: id }
    },
  )

const VERSION = /^[\x21-\x7e]{1,64}$/
export const isVersion = (text: string): boolean => VERSION.test(text)
export const VERSION_RULE = 'must have ASCII characters without spaces, at least one'

const EDGE_IN_TRANSITION = statement({
  name: 'edge-in-transition',
  text: `select id from object where root_id = $1 and id <> $1 and phase <> 'READY' order by id limit 1`,
  params: [uuid],
  row: { id: table.object.id },
})

async function inTransition(tree: LockedTree): Promise<Node | null> {
  const { id } = tree.root.row
  const { rows } = await EDGE_IN_TRANSITION.query(tree.client, [id])
  await tree.load(rows.map((row) => row.id))
  return tree.slice.get(rows[0]?.id ?? '') ?? null
}

/** Asks the serving CRM to start a new one. */
function startUpgrade(
  tree: LockedTree,
  node: Node,
  { version, by, operationId }: { readonly version: string; readonly by: Principal; readonly operationId: string },
): void {
  const { slice } = tree
  slice.patch(node, { jobId: operationId })
  moveUpgrade(node, slice, 'UPDATE_REQUESTED', { actor: 'USER', by, message: `To version ${version}.` })
  slice.setDetails(node, { wantedVersion: version })
  upgradeHeard(node, slice)
  slice.setWork(node, newRequest(node, slice, null))
  dispatchNow(node, slice)
  tree.wake([node.row.id])
}

export const resolveCloudletUpgrade = (
  parts: EdgeParts,
  viewer: Viewer,
  input: Keyed & { readonly id: string },
): Promise<CloudletResult> => {
  const { id } = input
  const once = byKey('resolveCloudletUpgrade', input)
  const found = { ...at(rights.resolveUpgrade, id, 'CLOUDLET'), once }
  return onObject(parts, viewer, found, (tree, node): CloudletResult => {
    const { slice } = tree
    const { upgradePhase } = cloudletDetails(node)
    const to: Phase = 'READY'
    if (upgradePhase !== 'UPDATE_ERROR') {
      const message = `There is nothing to put right: the upgrade of ${node.row.name} is ${upgradePhase}.`
      tree.reject(node, to, viewer, message, { secondary: { machine: cloudletUpgrade, from: upgradePhase } })
      return refuse({ ...transitionRefused('CLOUDLET', upgradePhase, 'USER', to, []), message })
    }
    moveUpgrade(node, slice, to, { actor: 'USER', by: viewer })
    slice.setError(node, null)
    return { ok: true, objectId: id }
  })
}
