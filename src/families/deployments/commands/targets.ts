import { ITEM_TYPE_RULE, isItemType } from '../../../core/deployers/item-types.ts'
import { generationMismatch, invalidInput, notFound, type RefusalOf, type RefusalType } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import { textProblem } from '../../../core/portable.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { isTargetName, KUBERNETES_TARGET, TARGET_NAME_RULE } from '../../../core/target.ts'
import { readFlatKubeconfig } from '../../../manifest/kubeconfig.ts'
import { SEALED_OVERHEAD } from '../../../store/sealing.ts'
import { findTarget, measureTargets, type SealedTarget, sealedFor, TARGETS } from '../../../store/targets.ts'
import { onProject, refuse } from '../../access.ts'
import type { LockedProject } from '../../family.ts'
import { rights } from '../rights.ts'
import { findItemOf } from '../store/target-users.ts'
import type { CommandParts } from './parts.ts'

/** Targets of a project. Their credentials are written, never read back, and in no error. */

export interface TargetKey {
  readonly project: string
  readonly name: string
}
/** A field that is left out stays as it is. */
export interface SetTarget extends TargetKey {
  readonly type?: string | null
  readonly labels?: readonly LabelInput[] | null
  readonly description?: string | null
  /** Null: there are none any more. */
  readonly credentials?: string | null
  readonly expectedGeneration?: number | null
}
type TargetResult<T, Type extends RefusalType> = Outcome<T, RefusalOf<Type>>

/** Bounds of a project. */
export const TARGET_LIMITS = { count: 1_000, bytes: 16 * 1024 * 1024 } as const

export async function setTarget(
  parts: CommandParts,
  viewer: Viewer,
  input: SetTarget,
): Promise<
  TargetResult<
    { readonly target: SealedTarget },
    'InvalidInputError' | 'ConflictError' | 'LimitError' | 'ForbiddenError'
  >
> {
  type Written = TargetResult<{ readonly target: SealedTarget }, 'InvalidInputError' | 'ConflictError' | 'LimitError'>
  const access = { right: rights.setTarget, project: input.project }
  return await onProject(parts, viewer, access, async (project): Promise<Written> => {
    const found = await findTarget(project.client, project.projectId, input.name)
    const { generation = 0 } = found ?? {}
    const expected = input.expectedGeneration ?? null
    if (expected !== null && expected !== generation) return refuse(generationMismatch(generation, expected))
    const problems = new Problems()
    const wanted = wantedTarget(input, found, problems)
    checkCredentials(parts, input, wanted.type, problems)
    if (problems.found.length > 0) return refuse(invalidInput(problems.found))
    const tooMuch = await beyondLimits(project, input)
    if (tooMuch) return refuse(tooMuch)
    if (found && input.credentials === undefined && isSame(found, wanted)) return { ok: true, target: found }
    const target = {
      ...wanted,
      id: found?.id ?? parts.system.id(),
      projectId: project.projectId,
      name: input.name,
      sealed: sealedCredentials(parts, project, input, found),
      generation: generation + 1,
      createdAt: found?.createdAt ?? project.now,
      updatedAt: project.now,
    }
    await TARGETS.write(project.client, target)
    return { ok: true, target: { ...target, projectName: input.project, hasCredentials: target.sealed !== null } }
  })
}

type Settings = Pick<SealedTarget, 'type' | 'labels' | 'description'>

function wantedTarget(
  { name, type, labels, description }: SetTarget,
  found: SealedTarget | null,
  problems: Problems,
): Settings {
  if (!isTargetName(name)) problems.add('input.name', TARGET_NAME_RULE)
  if (!found && !type) problems.add('input.type', `is missing: there is no target ${name} yet`)
  if (type && !isItemType(type)) problems.add('input.type', ITEM_TYPE_RULE)
  return {
    type: type ?? found?.type ?? '',
    labels: labels ? labelsOf(labels, problems) : (found?.labels ?? {}),
    description: description ?? found?.description ?? '',
  }
}

const isSame = (found: Settings, { type, labels, description }: Settings): boolean =>
  found.type === type && found.description === description && sameJson(found.labels, labels)

/** Credentials of another type stay, and are judged by whoever uses them. */
function checkCredentials(
  { sealing }: Pick<CommandParts, 'sealing'>,
  { credentials }: SetTarget,
  type: string,
  problems: Problems,
): void {
  if (credentials === undefined || credentials === null) return
  const path = 'input.credentials'
  if (!sealing.canSeal)
    problems.add(
      path,
      'cannot be sealed: set PHASELINE_SECRET_KEY to 32 random bytes in base64, and start the server again',
    )
  const problem = credentials === '' ? 'must not be empty' : textProblem(credentials)
  if (problem) return problems.add(path, problem)
  if (type !== KUBERNETES_TARGET) return
  const read = readFlatKubeconfig(credentials)
  if (!read.ok)
    for (const each of read.problems) problems.add(path, `must be a kubeconfig that is whole in itself: ${each}`)
}

function sealedCredentials(
  { sealing }: Pick<CommandParts, 'sealing'>,
  { projectId }: LockedProject,
  { name, credentials }: SetTarget,
  found: SealedTarget | null,
): Buffer | null {
  if (credentials === undefined) return found?.sealed ?? null
  return credentials === null ? null : sealing.seal(sealedFor({ projectId, name }), credentials)
}

async function beyondLimits(
  { client, projectId }: LockedProject,
  { name, credentials }: SetTarget,
): Promise<RefusalOf<'LimitError'> | null> {
  const others = await measureTargets(client, projectId, name)
  if (others.count + 1 > TARGET_LIMITS.count) {
    const message = `A project may have at most ${TARGET_LIMITS.count} targets.`
    return { type: 'LimitError', message, limit: TARGET_LIMITS.count }
  }
  const bytes = others.sealedBytes - others.count * SEALED_OVERHEAD + Buffer.byteLength(credentials ?? '')
  if (bytes <= TARGET_LIMITS.bytes) return null
  const message = `The credentials of a project’s targets may have at most ${TARGET_LIMITS.bytes} bytes altogether.`
  return { type: 'LimitError', message, limit: TARGET_LIMITS.bytes }
}

type DeletedTarget = TargetKey & { readonly projectId: string }

/** Refused as long as items are there, since nothing else could uninstall them. */
export const deleteTarget = (
  parts: CommandParts,
  viewer: Viewer,
  { project, name }: TargetKey,
): Promise<TargetResult<DeletedTarget, 'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>> => {
  type Deleted = TargetResult<DeletedTarget, 'NotFoundError' | 'ConflictError'>
  const missing = notFound(null, 'target', name)
  const access = { right: rights.deleteTarget, project, missing }
  return onProject(parts, viewer, access, async ({ client, projectId }): Promise<Deleted> => {
    const found = await findTarget(client, projectId, name)
    if (!found) return refuse(missing)
    const item = await findItemOf(client, projectId, name)
    if (item) return refuse(inUse(name, item))
    await TARGETS.remove(client, found.id)
    return { ok: true, projectId, project, name }
  })
}

const inUse = (
  target: string,
  item: { readonly id: string; readonly name: string; readonly root: string },
): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'IN_USE',
  message: `${target} still has items, such as ${item.name} of ${item.root}: delete them first, without uninstalling if the place is gone.`,
  objectId: item.id,
})
