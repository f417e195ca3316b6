import { canRead } from '../../../core/can-read.ts'
import { forbidden, invalidInput, notFound, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { requireRight } from '../../../core/rights.ts'
import { agentsSince } from '../../../graphql/agents/agent.ts'
import { text, uuid } from '../../../store/column-types.ts'
import { findProjectId } from '../../../store/projects.ts'
import { statement } from '../../../store/statement.ts'
import { findFor, refuse } from '../../access.ts'
import { rights } from '../rights.ts'
import { type BroughtItem, broughtCode } from '../rules/brought-code.ts'
import { expandLiterals } from '../rules/for-each.ts'
import { type PlanStep, planApply, planDelete } from '../rules/plan.ts'
import { type PlanBlocker, predictBlockers, requiredNames, typesOf } from '../rules/predict-blockers.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import { queryPlanFacts } from '../store/blocker-queries.ts'
import { readExisting } from '../store/read-existing.ts'
import type { PlanInstallation } from './inputs.ts'
import type { CommandParts } from './parts.ts'
import { readSpec } from './read-spec.ts'
import { mayBring } from './require-code-right.ts'

type PlanRefusal = RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError' | 'LimitError'>

export interface InstallationPlan {
  readonly steps: readonly PlanStep[]
  /** The blockers that it would have now. */
  readonly blockers: readonly PlanBlocker[]
  /** Items that bring code, and whether the viewer may bring it. */
  readonly broughtCode: readonly (BroughtItem & { readonly permitted: boolean })[]
  /** The root's spec, present and planned; undefined: none. Null: it stays as it is. */
  readonly specs: { readonly before: unknown; readonly after: unknown } | null
  /** The spec that an existing root would run, as far as its lists are known; null: nothing runs, or the root is new. */
  readonly rerun: { readonly rootId: string; readonly name: string; readonly spec: InstallationSpec } | null
}

/** Checks the input as the mutation does, except for conflicts that only its locks reveal. */
export async function planInstallation(
  parts: CommandParts,
  viewer: Viewer,
  input: PlanInstallation,
): Promise<Outcome<InstallationPlan, PlanRefusal>> {
  const id = input.update?.id ?? input.delete?.id
  const refused = await requirePlace(parts, viewer, id, input.create?.project)
  if (refused) return refuse(refused)
  const existing = id === undefined ? null : await readExisting(parts.pool, id)
  if (input.delete)
    return {
      ok: true,
      steps: existing ? planDelete(existing, input.delete.withoutUninstall ?? false) : [],
      blockers: [],
      broughtCode: [],
      specs: existing && { before: existing.spec, after: undefined },
      rerun: null,
    }
  const wanted = input.create ?? input.update
  if (!wanted?.spec) return { ok: true, steps: [], blockers: [], broughtCode: [], specs: null, rerun: null }
  const problems = new Problems()
  const name = input.create?.name ?? existing?.name ?? ''
  if (!isName(name)) problems.add('input.create.name', NAME_RULE)
  const spec = await readSpec(parts, wanted.spec, problems, viewer.principalId)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const place = await placeOf(parts, id, input.create?.project ?? 'default')
  const asked = { ...place, name, spec, names: requiredNames(spec), types: typesOf(spec) }
  const brought = broughtCode(name, spec, (existing?.spec ?? null) as InstallationSpec | null).map((item) => ({
    ...item,
    permitted: mayBring(parts, viewer, item, place.projectId),
  }))
  const facts = await queryPlanFacts(parts.pool, asked, agentsSince(parts.system.now()))
  const known = expandLiterals(spec)
  const steps = planApply(name, known, existing, facts.targets)
  const blockers = predictBlockers(name, known, steps, facts)
  const rerun = existing && { rootId: existing.id, name, spec: known }
  return { ok: true, steps, blockers, broughtCode: brought, specs: { before: existing?.spec, after: spec }, rerun }
}

/** The scope in which names of its imports are resolved. */
async function placeOf({ pool }: CommandParts, id: string | undefined, project: string) {
  if (id === undefined) return { id: null, project, projectId: await findProjectId(pool, project) }
  const { rows } = await PROJECT_OF.query(pool, [id])
  return { id, project: rows[0]?.name ?? project, projectId: rows[0]?.id ?? null }
}

const PROJECT_OF = statement({
  text: 'select p.id, p.name from object o join project p on p.id = o.project_id where o.id = $1',
  params: [uuid],
  row: { id: uuid, name: text },
})

/** The root installation that changes, or the project of a new one. */
async function requirePlace(
  { pool }: CommandParts,
  viewer: Viewer,
  id: string | undefined,
  project: string | undefined,
): Promise<RefusalOf<'NotFoundError' | 'ForbiddenError'> | null> {
  if (id !== undefined) {
    const located = await findFor(pool, viewer, rights.plan, { id, what: 'root installation' })
    if (!located.ok) return located.refusal
    return located.found.rootId === id ? null : notFound(id, 'root installation')
  }
  if (project === undefined || viewer.projects === null) return null
  const projectId = await findProjectId(pool, project)
  if (projectId === null || !canRead(viewer, { projectId }))
    return forbidden(`You have no access to a project ${project}.`)
  return requireRight(viewer, rights.plan, projectId)
}
