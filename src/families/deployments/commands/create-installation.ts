import { invalidInput } from '../../../core/errors.ts'
import { labelsOf } from '../../../core/labels.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { idempotent } from '../../../store/idempotency.ts'
import { type CommandResult, inProject, noProject, refuse } from '../../access.ts'
import { editorOf } from '../../on-behalf.ts'
import { rights } from '../rights.ts'
import { automaticOf } from '../rules/automatic-reconcile.ts'
import { NEW_INSTALLATION } from '../rules/details.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import { checkRootScope, declareScope } from '../store/root-scope.ts'
import { type CreateInstallation, changedSettings } from './inputs.ts'
import type { CommandParts } from './parts.ts'
import { readSpec } from './read-spec.ts'
import { requireCodeRight } from './require-code-right.ts'

export async function createInstallation(
  parts: CommandParts,
  viewer: Viewer,
  input: CreateInstallation,
): Promise<CommandResult<'InvalidInputError' | 'ConflictError' | 'ForbiddenError' | 'NotFoundError' | 'LimitError'>> {
  const problems = new Problems()
  if (!isName(input.name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(input.labels ?? [], problems)
  const spec = await readSpec(parts, input.spec, problems, viewer.principalId)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  // Names are unique in the database, too. Only a root with both imports and exports can be part of a cycle.
  const canShare = spec.exports.length === 0 || spec.imports.length === 0
  const access = { right: rights.create, project: input.project, canShare }
  const done = await inProject(parts.trees, viewer, access, (project) =>
    idempotent(project, viewer, { mutation: 'createInstallation', input }, async () => {
      const refused =
        requireCodeRight(parts, viewer, { projectId: project.projectId, name: input.name, spec, present: null }) ??
        (await checkRootScope(project, { id: null, name: input.name, spec }))
      if (refused) return refuse(refused)
      const tree = project.createRoot({
        kind: 'INSTALLATION',
        name: input.name,
        spec,
        labels,
        by: viewer,
        details: {
          ...changedSettings(input, NEW_INSTALLATION),
          automaticReconcile: automaticOf(spec.automaticReconcile, editorOf(viewer), { present: null, isEdited: true }),
          ...(input.reconcile ? { nextMode: 'STANDARD', nextOrigin: { by: viewer.name, cause: 'CREATED' } } : {}),
        },
      })
      declareScope(tree, spec)
      // A tree with imports is decided later, since imports are read under the locks of the exporting roots.
      if (input.reconcile && spec.imports.length === 0) await tree.decideNow(tree.root, objectsOf(spec))
      else if (input.reconcile) tree.wake([tree.root.row.id])
      return { ok: true, objectId: tree.root.row.id, object: tree.root }
    }),
  )
  return done ?? refuse(noProject(viewer, input.project))
}

/** An installation, its execution and its items, and those of the nested ones. */
const objectsOf = ({ deployItems, installations }: InstallationSpec): number =>
  2 + deployItems.length + installations.reduce((sum, { spec }) => sum + objectsOf(spec), 0)
