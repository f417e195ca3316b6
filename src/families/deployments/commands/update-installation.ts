import { generationMismatch, invalidInput, notFound } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { labelsOf } from '../../../core/labels.ts'
import type { WrittenObject } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { isFinished, type Node } from '../../../core/tree.ts'
import { byKey, type Once } from '../../../store/idempotency.ts'
import { loadSpecs } from '../../../store/load-edges.ts'
import { readLabels, writeLabels } from '../../../store/objects.ts'
import { type CommandResult, findFor, ifUnchanged, onLoaded, onProject, refuse } from '../../access.ts'
import type { LockedProject, LockedTree } from '../../family.ts'
import { editorOf } from '../../on-behalf.ts'
import { rights } from '../rights.ts'
import { askForJob } from '../rules/ask-for-job.ts'
import { automaticOf } from '../rules/automatic-reconcile.ts'
import { installation } from '../rules/details.ts'
import type { SpecInput } from '../rules/normalise.ts'
import { isObserved } from '../rules/observed-spec.ts'
import { type Origin, type RunCause, requestedBy } from '../rules/origin.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import { checkRootScope, declareScope } from '../store/root-scope.ts'
import { findGeneration, keepGeneration } from '../store/spec-generations.ts'
import { keepSpec } from '../store/spec-snapshots.ts'
import { checkLimits } from './check-limits.ts'
import { changedSettings, type RollbackInstallation, type UpdateInstallation } from './inputs.ts'
import type { CommandParts } from './parts.ts'
import { readSpec } from './read-spec.ts'
import { requireCodeRight } from './require-code-right.ts'

const WHAT = 'installation'
type UpdateResult = CommandResult<
  'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError' | 'LimitError'
>

export const updateInstallation = (
  parts: CommandParts,
  viewer: Viewer,
  input: UpdateInstallation,
): Promise<UpdateResult> => writeUpdate(parts, viewer, input, byKey('updateInstallation', input), 'CHANGED')

/** Brings back the spec of an earlier generation, as a new one. */
export async function rollbackInstallation(
  parts: CommandParts,
  viewer: Viewer,
  input: RollbackInstallation,
): Promise<UpdateResult> {
  const located = await findFor(parts.pool, viewer, rights.update, { id: input.id, what: WHAT })
  if (!located.ok) return located
  const spec = await findGeneration(parts.pool, input.id, input.toGeneration)
  if (!spec) {
    const message = `There is no earlier generation ${input.toGeneration}, or it is not kept any more.`
    return refuse(invalidInput([{ path: 'input.toGeneration', message }]))
  }
  // A stored spec is one of the input's form, with all defaults.
  const update = { ...input, spec: spec as SpecInput }
  return await writeUpdate(parts, viewer, update, byKey('rollbackInstallation', input), 'ROLLED_BACK')
}

async function writeUpdate(
  parts: CommandParts,
  viewer: Viewer,
  input: UpdateInstallation,
  once: Once<WrittenObject>,
  cause: RunCause,
): Promise<UpdateResult> {
  const located = await findFor(parts.pool, viewer, rights.update, { id: input.id, what: WHAT })
  if (!located.ok) return located
  const { found } = located
  const problems = new Problems()
  const labels = input.labels ? labelsOf(input.labels, problems) : null
  const spec = input.spec ? await readSpec(parts, input.spec, problems, viewer.principalId) : null
  if (spec && found.rootId !== input.id) problems.add('input.spec', 'is its root’s: change it there')
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const missing = notFound(input.id, WHAT)
  const access = { right: rights.update, project: found.projectName, once, missing }
  const origin = requestedBy(viewer, cause)
  return await onProject(parts, viewer, access, async (project) =>
    onLoaded(await project.lockTree(found.rootId), { id: input.id, what: WHAT }, (tree, node) =>
      ifUnchanged(tree, input, () => update(parts, project, tree, node, { input, spec, labels, origin, viewer })),
    ),
  )
}

interface Change {
  readonly input: UpdateInstallation
  readonly spec: InstallationSpec | null
  readonly labels: Readonly<Record<string, string>> | null
  readonly origin: Origin & { readonly by: string }
  readonly viewer: Viewer
}

async function update(
  parts: CommandParts,
  project: LockedProject,
  tree: LockedTree,
  node: Node,
  { input, spec, labels, origin, viewer }: Change,
): Promise<CommandResult<'ConflictError' | 'ForbiddenError' | 'InvalidInputError'>> {
  const { slice, root } = tree
  const { id, generation, deletionRequestedAt } = node.row
  if (typeof input.expectedGeneration === 'number' && input.expectedGeneration !== generation) {
    return refuse(generationMismatch(generation, input.expectedGeneration, id))
  }
  if (spec) {
    if (deletionRequestedAt || installation(node).nextDeletion) {
      return refuse({ type: 'ConflictError', code: 'BUSY', message: 'It is being deleted.', objectId: id })
    }
    const { name } = node.row
    const present = (await loadSpecs(tree.client, [id])).get(id) as InstallationSpec
    const refused =
      requireCodeRight(parts, viewer, { projectId: project.projectId, name, spec, present }) ??
      (await checkRootScope(project, { id, name, spec })) ??
      (await checkLimits(project, spec, present))
    if (refused) return refuse(refused)
    const isEdited = !sameJson(present, spec)
    if (isEdited) {
      if (isObserved(node.row)) await keepSpec(tree.client, node.row)
      await keepGeneration(tree.client, node.row, { at: slice.now, by: origin.by })
      slice.setSpec(node, spec)
      slice.patch(node, { generation: generation + 1 })
      slice.setDetails(node, { editorId: viewer.principalId })
      declareScope(tree, spec)
      // The running job cannot succeed any more, so no attempt of it is worth a wait.
      if (!isFinished(root.row)) slice.effect('endWaits', null)
    }
    const { automaticReconcile: state } = installation(node)
    const automatic = automaticOf(spec.automaticReconcile, editorOf(viewer), { present: state, isEdited })
    if (!sameJson(state, automatic)) slice.setDetails(node, { automaticReconcile: automatic })
  }
  if (labels && !sameJson(labels, await readLabels(tree.client, id))) {
    await writeLabels(tree.client, id, labels)
    slice.patch(node, {})
  }
  const settings = changedSettings(input, installation(node))
  if (Object.keys(settings).length > 0) slice.setDetails(node, settings)
  const takesPartAgain = settings.ignored === false && !deletionRequestedAt
  // Jobs may have passed it over, so the next one finds it changed in any mode.
  if (takesPartAgain && node !== root && isFinished(node.row)) slice.patch(node, { generation: generation + 1 })
  if (input.reconcile && (spec || takesPartAgain)) askForJob(root, 'STANDARD', origin, slice, viewer)
  tree.wake([id, root.row.id])
  return { ok: true, objectId: id }
}
