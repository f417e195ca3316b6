import { generationMismatch, invalidInput, notFound } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { requireRight } from '../../../core/rights.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { type CommandResult, findFor, onFound, onObject, refuse } from '../../access.ts'
import { bindCommands, command } from '../../command.ts'
import { creates, type Judged } from '../../creation.ts'
import type { LockedProject } from '../../family.ts'
import { editorOf } from '../../on-behalf.ts'
import { rootNameTaken } from '../../root-name.ts'
import { checkExpressions, expressionsOf } from '../../template-expressions.ts'
import { nextDue } from '../../when.ts'
import { rights } from '../rights.ts'
import { advance, beginPause, details, dueAfter, earlier, endPause, writeFirings } from '../rules/decide-schedule.ts'
import { normaliseSchedule, type ScheduleInput } from '../rules/normalise-schedule.ts'
import { overdueFrom } from '../rules/on-wake.ts'
import { planFirings } from '../rules/plan-firings.ts'
import { sameSchedule } from '../rules/same-schedule.ts'
import type { ScheduleSpec } from '../rules/spec.ts'
import { readSchedule } from '../store/firings.ts'
import { backfillSchedule, cancelBackfill } from './backfills.ts'
import { cancelBulkOperation, createBulkOperation, deleteBulkOperation, previewBulkOperation } from './bulk.ts'
import { holdAutomation, releaseAutomation } from './holds.ts'
import type { AutomationParts } from './parts.ts'
import { refused } from './refused.ts'

interface NewSchedule extends ScheduleInput {
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
}
type CreateRefusal = 'InvalidInputError' | 'ConflictError' | 'ForbiddenError'

export const createSchedule = creates('createSchedule', { right: rights.create, judge })

async function judge(
  parts: AutomationParts,
  viewer: Viewer,
  { name, labels: given, ...input }: NewSchedule,
): Promise<Judged<CreateRefusal>> {
  const problems = new Problems()
  if (!isName(name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(given ?? [], problems)
  const spec = await readSpec(parts, input, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return { ok: true, write: (project) => write(parts, project, viewer, { name, labels, spec }) }
}

interface JudgedSchedule {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly spec: ScheduleSpec
}

async function write(
  parts: AutomationParts,
  project: LockedProject,
  viewer: Viewer,
  { name, labels, spec }: JudgedSchedule,
): Promise<CommandResult<CreateRefusal>> {
  const { projectId, now } = project
  const forbidden = mayRun(parts, viewer, spec, projectId)
  if (forbidden) return refuse(forbidden)
  const taken = await rootNameTaken(project, { kind: 'SCHEDULE', name, what: 'a schedule' })
  if (taken) return refuse(taken)
  const due = nextDue(spec, now)
  if (!due) return refuse(NO_TIME)
  const overdueAt = overdueFrom(spec, now)
  const details = { due, editor: editorOf(viewer), overdueAt }
  const { root, slice } = project.createRoot({ kind: 'SCHEDULE', name, spec, labels, by: viewer, details })
  const { wakeAt } = planFirings(spec, { id: root.row.id, due, firedCount: 0 }, now)
  slice.setClock(root, earlier(wakeAt, overdueAt))
  return { ok: true, objectId: root.row.id }
}

const WHAT = 'schedule'
const NO_TIME = invalidInput([{ path: 'input.when', message: 'has no time that is to come' }])

async function readSpec(parts: AutomationParts, input: ScheduleInput, problems: Problems): Promise<ScheduleSpec> {
  const spec = normaliseSchedule(input, parts.system.now(), parts.triggers, problems)
  const { trigger: name, input: given } = spec.run
  const trigger = parts.triggers[name]
  if (problems.found.length > 0 || !trigger) return spec
  const path = `input.run.${name}`
  const expressions = expressionsOf(trigger.template(given), path, problems)
  await checkExpressions(parts.sandbox, expressions, 'schedule', problems)
  await trigger.check(given, path, problems)
  return spec
}

/** A schedule never does what its author may not do. */
const mayRun = ({ triggers }: AutomationParts, viewer: Viewer, { run }: ScheduleSpec, projectId: string) => {
  const trigger = triggers[run.trigger]
  return trigger ? requireRight(viewer, trigger.right, projectId) : null
}

export interface UpdateSchedule extends ScheduleInput {
  readonly id: string
  readonly expectedGeneration?: number | null
}

/** Replaces the whole spec. Its next time is one after the last that has fired. */
export async function updateSchedule(
  parts: AutomationParts,
  viewer: Viewer,
  input: UpdateSchedule,
): Promise<CommandResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>> {
  const located = await findFor(parts.pool, viewer, rights.update, { id: input.id, what: WHAT })
  if (!located.ok) return located
  const problems = new Problems()
  const spec = await readSpec(parts, input, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const forbidden = mayRun(parts, viewer, spec, located.found.projectId)
  if (forbidden) return refuse(forbidden)
  type Edited = CommandResult<'ConflictError' | 'NotFoundError'>
  return await onFound(parts, viewer, located.found, { what: WHAT }, async (tree): Promise<Edited> => {
    const { root, slice } = tree
    const { generation } = root.row
    const expected = input.expectedGeneration ?? null
    if (expected !== null && expected !== generation) return refuse(generationMismatch(generation, expected))
    const before = (await readSchedule(tree.client, root.row.id))?.spec
    if (!before) return refuse(notFound(input.id, WHAT))
    // An equal spec is an edit all the same if the rights of its editor have changed.
    if (sameSchedule(before, spec) && sameJson(details(root).editor, editorOf(viewer)))
      return { ok: true, objectId: root.row.id }
    advance(root, slice, before)
    const { phase } = root.row
    slice.setSpec(root, spec)
    slice.patch(root, { generation: generation + 1 })
    const due = dueAfter(spec, details(root), slice.now)
    const to: Phase = due ? (phase === 'FINISHED' ? 'ACTIVE' : phase) : 'FINISHED'
    slice.setDetails(root, { due: to === 'ACTIVE' ? due : null, editor: editorOf(viewer) })
    if (to !== 'PAUSED') slice.setDetails(root, { pausedBecause: null })
    slice.setDetails(root, { overdueAt: to === 'ACTIVE' ? overdueFrom(spec, slice.now) : null })
    if (to !== 'FINISHED' || phase !== 'FINISHED')
      slice.move(root, to, { actor: 'USER', by: viewer, message: `Edited by ${viewer.name}.` })
    tree.wake([root.row.id])
    return { ok: true, objectId: root.row.id }
  })
}

interface Named {
  readonly id: string
}

export const deleteSchedule = (
  parts: AutomationParts,
  viewer: Viewer,
  { id }: Named,
): Promise<CommandResult<'InvalidInputError' | 'NotFoundError' | 'ForbiddenError'>> =>
  onObject(parts, viewer, { right: rights.delete, id, what: WHAT }, ({ root, slice }) => {
    slice.move(root, 'GONE', { actor: 'USER', by: viewer })
    return { ok: true, objectId: root.row.id }
  })

type Changed = CommandResult<'InvalidInputError' | 'NotFoundError' | 'TransitionError' | 'ForbiddenError'>

interface Reasoned extends Named {
  readonly reason?: string | null
}
export const pauseSchedule = (
  parts: AutomationParts,
  viewer: Viewer,
  { id, reason = null }: Reasoned,
): Promise<Changed> =>
  onObject(parts, viewer, { right: rights.pause, id, what: WHAT }, async (tree): Promise<Changed> => {
    const { root, slice } = tree
    const spec = (await readSchedule(tree.client, root.row.id))?.spec
    if (spec) advance(root, slice, spec)
    if (root.row.phase !== 'ACTIVE') return refused(tree, viewer, 'PAUSED')
    beginPause(root, slice)
    slice.setDetails(root, { pausedBecause: reason })
    slice.move(root, 'PAUSED', { actor: 'USER', by: viewer, message: reason })
    slice.setClock(root, null)
    return { ok: true, objectId: root.row.id }
  })

export const resumeSchedule = (parts: AutomationParts, viewer: Viewer, { id }: Named): Promise<Changed> =>
  onObject(parts, viewer, { right: rights.pause, id, what: WHAT }, async (tree): Promise<Changed> => {
    const { root, slice } = tree
    if (root.row.phase !== 'PAUSED') return refused(tree, viewer, 'ACTIVE')
    const spec = (await readSchedule(tree.client, root.row.id))?.spec
    if (!spec) return refuse(notFound(id, WHAT))
    endPause(root, slice, spec)
    const due = dueAfter(spec, details(root), slice.now)
    slice.setDetails(root, { due, pausedBecause: null, overdueAt: due && overdueFrom(spec, slice.now) })
    slice.move(root, due ? 'ACTIVE' : 'FINISHED', { actor: 'USER', by: viewer })
    tree.wake([root.row.id])
    return { ok: true, objectId: root.row.id }
  })

/** Fires once, now, whatever its times are. */
export const fireSchedule = (parts: AutomationParts, viewer: Viewer, input: Keyed & Named): Promise<Changed> => {
  const once = byKey('fireSchedule', input)
  return onObject(parts, viewer, { right: rights.fire, id: input.id, what: WHAT, once }, (tree): Changed => {
    const { root, slice } = tree
    if (root.row.phase !== 'ACTIVE') return refused(tree, viewer, 'ACTIVE')
    const firing = { cause: slice.newId(), due: slice.now, lastDue: null, count: 1, skipped: null }
    writeFirings(root, slice, [firing])
    slice.move(root, 'ACTIVE', { actor: 'USER', by: viewer, message: `Fired by ${viewer.name}.` })
    return { ok: true, objectId: root.row.id }
  })
}

export const automationCommands = {
  createSchedule: command(createSchedule, ['ConflictError']),
  updateSchedule: command(updateSchedule, ['NotFoundError', 'ConflictError']),
  deleteSchedule: command(deleteSchedule, ['NotFoundError']),
  pauseSchedule: command(pauseSchedule, ['NotFoundError', 'TransitionError']),
  resumeSchedule: command(resumeSchedule, ['NotFoundError', 'TransitionError']),
  fireSchedule: command(fireSchedule, ['NotFoundError', 'TransitionError']),
  backfillSchedule: command(backfillSchedule, ['NotFoundError', 'ConflictError', 'TransitionError']),
  cancelBackfill: command(cancelBackfill, ['NotFoundError']),
  createBulkOperation: command(createBulkOperation, ['ConflictError', 'LimitError']),
  previewBulkOperation: command(previewBulkOperation, []),
  cancelBulkOperation: command(cancelBulkOperation, ['NotFoundError', 'TransitionError']),
  deleteBulkOperation: command(deleteBulkOperation, ['NotFoundError', 'TransitionError']),
  holdAutomation: command(holdAutomation, []),
  releaseAutomation: command(releaseAutomation, ['NotFoundError']),
}
export type AutomationCommands = ReturnType<typeof bindAutomation>
export const bindAutomation = (parts: AutomationParts) => bindCommands(parts, automationCommands)
