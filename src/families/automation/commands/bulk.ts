import { canRead } from '../../../core/can-read.ts'
import { invalidInput, type RefusalOf } from '../../../core/errors.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { hasRight, requireRight } from '../../../core/rights.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import { articled, words } from '../../../core/words.ts'
import { byKey } from '../../../store/idempotency.ts'
import type { FinishedRule, ObjectQuery } from '../../../store/loaders/find-objects.ts'
import { isUuid } from '../../../store/objects.ts'
import { findProjectId } from '../../../store/projects.ts'
import { type CommandResult, noProject, onObject, onProject, refuse } from '../../access.ts'
import { type AskedVerb, verbsNamed } from '../../asked-verb.ts'
import { editorOf } from '../../on-behalf.ts'
import { rootNameTaken } from '../../root-name.ts'
import { rights } from '../rights.ts'
import { type BulkSpec, MAX_RATE, MAX_TARGETS } from '../rules/bulk.ts'
import { cancelWaiting, countSelected, type NewTargets, type Selected, sampleOf } from '../store/bulk.ts'
import type { AutomationParts } from './parts.ts'
import { refused } from './refused.ts'

/** A filter, as it was sent and as it is judged. */
export interface BulkFilter {
  readonly sent: Readonly<Record<string, unknown>>
  readonly query: ObjectQuery
  readonly rule: FinishedRule
}
export interface SelectBulk {
  readonly project: string
  readonly verb: string
  readonly ids?: readonly string[] | null
  readonly flags?: readonly string[] | null
}
export interface CreateBulk extends SelectBulk {
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
  readonly note?: string | null
  readonly ratePerSecond?: number | null
  readonly idempotencyKey?: string | null
}

interface Chosen {
  readonly spec: Pick<BulkSpec, 'verb' | 'kinds' | 'filter' | 'flags'>
  readonly selected: Selected
  readonly verbs: ReadonlyMap<ObjectKind, AskedVerb>
}

/** The objects that are to be asked, and their verb. */
function choose(
  { askedVerbs }: Pick<AutomationParts, 'askedVerbs'>,
  viewer: Viewer,
  { project, verb, ids, flags: sent }: SelectBulk,
  filter: BulkFilter | null,
  projectId: string,
): Outcome<Chosen, RefusalOf<'InvalidInputError' | 'ForbiddenError'>> {
  const problems = new Problems()
  const verbs = verbsNamed(askedVerbs, verb)
  if (verbs.size === 0) {
    const known = [...new Set(askedVerbs.map((one) => one.verb.name))].sort().join(', ')
    problems.add('input.verb', `is none that can be asked of many objects: write one of ${known}`)
  }
  if ((ids ?? null) === null ? !filter : filter !== null) problems.add('input', 'takes either `filter` or `ids`')
  if (ids && ids.length === 0) problems.add('input.ids', 'names no object')
  for (const [i, id] of (ids ?? []).entries()) if (!isUuid(id)) problems.add(`input.ids.${i}`, 'is not an id')
  if (filter?.query.project !== undefined && filter.query.project !== project)
    problems.add('input.filter.project', `is not the project of the operation: leave it out, or write ${project}`)
  const asked = filter?.query.kinds ?? null
  for (const kind of asked ?? [])
    if (verbs.size > 0 && !verbs.has(kind))
      problems.add('input.filter.kinds', `${kind} has no verb ${verb}; these have it: ${[...verbs.keys()].join(', ')}`)
  const flags = [...new Set(sent ?? [])]
  const known = new Set([...verbs.values()].flatMap((one) => one.verb.flags.map(({ name }) => name)))
  for (const [i, flag] of flags.entries())
    if (verbs.size > 0 && !known.has(flag))
      problems.add(
        `input.flags.${i}`,
        `is no flag of ${verb}${known.size > 0 ? `: write ${[...known].join(' or ')}` : ''}`,
      )
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  if (!filter) {
    const unique = [...new Set((ids ?? []).map((id) => id.toLowerCase()))]
    return { ok: true, spec: { verb, flags, kinds: null, filter: null }, selected: { ids: unique }, verbs }
  }
  const may = [...verbs].filter(([kind, { right }]) =>
    asked ? asked.includes(kind) : hasRight(viewer, right, projectId),
  )
  const kinds = may.map(([kind]) => kind)
  const [forbidden] = [...verbs.values()].flatMap(({ right }) => requireRight(viewer, right, projectId) ?? [])
  // Nothing is selected for who may ask it of no kind.
  if (!asked && kinds.length === 0 && forbidden) return refuse(forbidden)
  return {
    ok: true,
    spec: { verb, flags, kinds, filter: filter.sent },
    selected: {
      query: narrowed(
        filter.query,
        may.map(([, one]) => one),
      ),
      rule: filter.rule,
    },
    verbs: new Map(may),
  }
}

/**
 * A filter without `phases` and `finished` selects what the verb is for: who cancels has no use for what has ended. No filter selects
 * what was asked before and has, for example, its retry.
 */
function narrowed(query: ObjectQuery, asked: readonly AskedVerb[]): ObjectQuery {
  const all = asked.map(({ verb }) => verb)
  const isNarrow = query.phases !== undefined || query.finished !== undefined
  const askable = asked.map(({ verb: { kind, finished, paused, rootsOnly }, doneSql = null }) => ({
    ...{ kind, rootsOnly: rootsOnly && query.rootsOnly !== false, without: doneSql },
    // An object that must have ended and has not is asked, and refuses: whoever deletes all learns what stays.
    ...(isNarrow ? { finished: null, paused: null } : { finished: finished === false ? finished : null, paused }),
  }))
  const narrow = { ...query, kinds: all.map(({ kind }) => kind), askable }
  if (isNarrow) return narrow
  const phases = [...new Set(all.flatMap((verb) => verb.phases))]
  const [first] = all
  const finished = first && all.every((verb) => verb.finished === first.finished) ? first.finished : null
  return { ...narrow, phases, ...(finished !== null && { finished }) }
}

/** Asking many takes the right to ask one. Objects that are named by id are judged one by one, when they are asked. */
function requireVerb({ verbs, selected }: Chosen, viewer: Viewer, projectId: string) {
  const all = [...verbs.values()]
  const missing = all.flatMap(({ right }) => requireRight(viewer, right, projectId) ?? [])
  const isEnough = 'ids' in selected ? missing.length < all.length : missing.length === 0
  return isEnough ? null : (missing[0] ?? null)
}

type Created = CommandResult<'InvalidInputError' | 'ConflictError' | 'LimitError' | 'ForbiddenError'>

export async function createBulkOperation(
  parts: AutomationParts,
  viewer: Viewer,
  input: CreateBulk,
  filter: BulkFilter | null,
): Promise<Created> {
  const problems = new Problems()
  if (!isName(input.name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(input.labels ?? [], problems)
  const { note = null, ratePerSecond = null } = input
  if (ratePerSecond !== null && (ratePerSecond < 1 || ratePerSecond > MAX_RATE))
    problems.add('input.ratePerSecond', `must be from 1 to ${MAX_RATE}`)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const access = { right: rights.createBulk, project: input.project }
  const asked = { ...input, filter: filter?.sent ?? null }
  const once = byKey('createBulkOperation', asked)
  return await onProject(parts, viewer, { ...access, once }, async (project): Promise<Created> => {
    const { client, projectId } = project
    const chosen = choose(parts, viewer, input, filter, projectId)
    if (!chosen.ok) return chosen
    const forbidden = requireVerb(chosen, viewer, projectId)
    if (forbidden) return refuse(forbidden)
    const taken = await rootNameTaken(project, { kind: 'BULK_OPERATION', name: input.name, what: 'a bulk operation' })
    if (taken) return refuse(taken)
    const { selected } = chosen
    const counts = 'ids' in selected ? [] : await countSelected(client, selected, projectId)
    if (counts.reduce((sum, { count }) => sum + count, 0) > MAX_TARGETS) return refuse(TOO_MANY)
    const spec: BulkSpec = { ...chosen.spec, note: note ?? null, ratePerSecond: ratePerSecond ?? null }
    const { root, slice } = project.createRoot({
      ...{ kind: 'BULK_OPERATION', name: input.name, spec, labels, by: viewer },
      details: { editor: editorOf(viewer) },
    })
    slice.effect('freezeTargets', { operationId: root.row.id, projectId, selected } satisfies NewTargets)
    return { ok: true, objectId: root.row.id }
  })
}
const TOO_MANY: RefusalOf<'LimitError'> = {
  type: 'LimitError',
  message: `More than ${MAX_TARGETS.toLocaleString('en')} objects match: narrow the filter, and ask for them in parts.`,
  limit: MAX_TARGETS,
}

/** The present objects that an operation would ask. */
export interface BulkPreview {
  readonly counts: readonly {
    readonly kind: ObjectKind
    readonly phase: Phase
    readonly count: number
    /** Why their verb would be refused; null: nothing of it is known before. */
    readonly refusal: string | null
  }[]
  readonly sampleIds: readonly string[]
}
const SAMPLE = 10

export async function previewBulkOperation(
  parts: AutomationParts,
  viewer: Viewer,
  input: SelectBulk,
  filter: BulkFilter | null,
): Promise<Outcome<{ readonly preview: BulkPreview }, RefusalOf<'InvalidInputError' | 'ForbiddenError'>>> {
  const projectId = await findProjectId(parts.pool, input.project)
  if (projectId === null || !canRead(viewer, { projectId })) return refuse(noProject(viewer, input.project))
  const chosen = choose(parts, viewer, input, filter, projectId)
  if (!chosen.ok) return chosen
  const forbidden = requireRight(viewer, rights.createBulk, projectId) ?? requireVerb(chosen, viewer, projectId)
  if (forbidden) return refuse(forbidden)
  const { selected, verbs } = chosen
  const [counts, sampleIds] = await Promise.all([
    countSelected(parts.pool, selected, projectId),
    sampleOf(parts.pool, selected, projectId, SAMPLE),
  ])
  const judged = counts.map(({ kind, phase, count }) => {
    const at = { kind: kind as ObjectKind, phase: phase as Phase }
    return { ...at, count, refusal: foreseen(verbs.get(at.kind), at, input.verb) }
  })
  return { ok: true, preview: { counts: judged, sampleIds } }
}

function foreseen(
  asked: AskedVerb | undefined,
  at: { readonly kind: ObjectKind; readonly phase: Phase },
  verb: string,
) {
  if (!asked) return `It is ${articled(words(at.kind))}, which has no verb ${verb}.`
  return asked.verb.phases.includes(at.phase) ? null : `Only possible in ${asked.verb.phases.join(', ')}.`
}

interface Named {
  readonly id: string
}
type Changed = CommandResult<'InvalidInputError' | 'NotFoundError' | 'TransitionError' | 'ForbiddenError'>

/** Targets that are being asked are done; the others are left out. */
export const cancelBulkOperation = (parts: AutomationParts, viewer: Viewer, { id }: Named): Promise<Changed> =>
  onObject(parts, viewer, { right: rights.cancelBulk, id, what: WHAT }, async (tree, node): Promise<Changed> => {
    const { slice, client } = tree
    if (node.row.phase !== 'PENDING' && node.row.phase !== 'RUNNING') return refused(tree, viewer, 'ABORTED')
    const left = await cancelWaiting(client, node.row.id)
    const message = `Cancelled by ${viewer.name}: ${left} of its targets were not asked.`
    slice.setDetails(node, { endedAt: slice.now })
    slice.move(node, 'ABORTED', { actor: 'USER', by: viewer, message })
    return { ok: true, objectId: node.row.id }
  })

export const deleteBulkOperation = (parts: AutomationParts, viewer: Viewer, { id }: Named): Promise<Changed> =>
  onObject(parts, viewer, { right: rights.deleteBulk, id, what: WHAT }, (tree, node): Changed => {
    if (node.row.phase === 'PENDING' || node.row.phase === 'RUNNING') return refused(tree, viewer, 'GONE')
    tree.slice.move(node, 'GONE', { actor: 'USER', by: viewer })
    return { ok: true, objectId: node.row.id }
  })
const WHAT = 'bulk operation'
