import { invalidInput } from '../../../core/errors.ts'
import { labelsOf } from '../../../core/labels.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { type CommandResult, refuse } from '../../access.ts'
import { creates, type Judged } from '../../creation.ts'
import type { LockedProject } from '../../family.ts'
import { editorOf } from '../../on-behalf.ts'
import { rights } from '../rights.ts'
import { automaticOf } from '../rules/automatic-reconcile.ts'
import { NEW_INSTALLATION } from '../rules/details.ts'
import { expandLiterals } from '../rules/for-each.ts'
import { requestedBy } from '../rules/origin.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import { checkRootScope, declareScope } from '../store/root-scope.ts'
import { checkLimits } from './check-limits.ts'
import { changedSettings, type NewInstallation } from './inputs.ts'
import type { CommandParts } from './parts.ts'
import { readSpec } from './read-spec.ts'
import { requireCodeRight } from './require-code-right.ts'

export type InstallationRefusal =
  | 'InvalidInputError'
  | 'ConflictError'
  | 'ForbiddenError'
  | 'NotFoundError'
  | 'LimitError'

export const installationCreation = { right: rights.create, judge }
export const createInstallation = creates('createInstallation', installationCreation)

async function judge(
  parts: CommandParts,
  viewer: Viewer,
  input: NewInstallation,
): Promise<Judged<InstallationRefusal>> {
  const problems = new Problems()
  if (!isName(input.name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(input.labels ?? [], problems)
  const spec = await readSpec(parts, input.spec, problems, viewer.principalId)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return {
    ok: true,
    // Names are unique in the database, too. Only a root with both imports and exports can be part of a cycle.
    canShare: spec.exports.length === 0 || spec.imports.length === 0,
    write: (project) => write(parts, project, viewer, { ...input, spec, labels }),
  }
}

interface JudgedInstallation extends Omit<NewInstallation, 'spec' | 'labels'> {
  readonly spec: InstallationSpec
  readonly labels: Readonly<Record<string, string>>
}

async function write(
  parts: CommandParts,
  project: LockedProject,
  viewer: Viewer,
  { name, spec, labels, reconcile, ...settings }: JudgedInstallation,
): Promise<CommandResult<InstallationRefusal>> {
  const refused =
    requireCodeRight(parts, viewer, { projectId: project.projectId, name, spec, present: null }) ??
    (await checkRootScope(project, { id: null, name, spec })) ??
    (await checkLimits(project, spec, null))
  if (refused) return refuse(refused)
  const tree = project.createRoot({
    kind: 'INSTALLATION',
    name,
    spec,
    labels,
    by: viewer,
    details: {
      ...changedSettings(settings, NEW_INSTALLATION),
      automaticReconcile: automaticOf(spec.automaticReconcile, editorOf(viewer), { present: null, isEdited: true }),
      ...(reconcile ? { nextMode: 'STANDARD', nextOrigin: requestedBy(viewer, 'CREATED') } : {}),
      editorId: viewer.principalId,
    },
  })
  declareScope(tree, spec)
  // A tree with imports is decided later, since imports are read under the locks of the exporting roots. So are invariants.
  if (reconcile && spec.imports.length === 0 && !project.hasInvariants)
    await tree.decideNow(tree.root, objectsOf(expandLiterals(spec)))
  else if (reconcile) tree.wake([tree.root.row.id])
  return { ok: true, objectId: tree.root.row.id, object: tree.root }
}

/** An installation, its execution and its items, and those of the nested ones. */
const objectsOf = ({ deployItems, installations }: InstallationSpec): number =>
  2 + deployItems.length + installations.reduce((sum, { spec }) => sum + objectsOf(spec), 0)
