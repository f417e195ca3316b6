import { forbidden, invalidInput, notFound, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { canReadTree } from '../../../graphql/auth/worker-access.ts'
import { findObject } from '../../../store/objects.ts'
import { canRead, refuse } from '../../access.ts'
import { type PlanStep, planApply, planDelete } from '../plan.ts'
import { readExisting } from '../read-existing.ts'
import type { PlanInstallation } from './inputs.ts'
import type { CommandParts } from './parts.ts'
import { readSpec } from './read-spec.ts'

type PlanRefusal = RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError' | 'LimitError'>

/** Checks the input as the mutation does, except for conflicts that only its locks reveal. */
export async function planInstallation(
  parts: CommandParts,
  viewer: Viewer,
  input: PlanInstallation,
): Promise<Outcome<{ steps: readonly PlanStep[] }, PlanRefusal>> {
  const id = input.update?.id ?? input.delete?.id
  const found = id === undefined ? null : await findObject(parts.client, id)
  if (
    id !== undefined &&
    (found?.rootId !== id ||
      found.kind !== 'INSTALLATION' ||
      !canRead(viewer, found.projectName) ||
      !canReadTree(viewer, id))
  ) {
    return refuse(notFound(id, 'root installation'))
  }
  if (input.create && !canRead(viewer, input.create.project))
    return refuse(forbidden(`You have no access to a project ${input.create.project}.`))
  const existing = id === undefined ? null : await readExisting(parts.client, id)
  if (input.delete)
    return { ok: true, steps: existing ? planDelete(existing, input.delete.withoutUninstall ?? false) : [] }
  const wanted = input.create ?? input.update
  if (!wanted?.spec) return { ok: true, steps: [] }
  const problems = new Problems()
  const name = input.create?.name ?? existing?.name ?? ''
  if (!isName(name)) problems.add('input.create.name', NAME_RULE)
  const spec = await readSpec(parts, wanted.spec, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return { ok: true, steps: planApply(name, spec, existing) }
}
