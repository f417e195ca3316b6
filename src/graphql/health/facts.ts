import { rootCauseOf } from '../../core/errors.ts'
import type { HealthSubject } from '../../core/health-causes.ts'
import type { CauseFacts } from '../../core/judge-causes.ts'
import { hasRight, projectsWith, RIGHTS, type Right } from '../../core/rights.ts'
import { type ObjectRow, WORK_STATE } from '../../core/tree.ts'
import type { Phase } from '../../core/vocabulary.ts'
import { findObjects, type ObjectOrder, type ObjectQuery } from '../../store/loaders/find-objects.ts'
import { expiringTokens } from '../../store/tokens.ts'
import { pathLoader, pauseLoader, projectLoader, statusLoader, workLoader } from '../loaders.ts'
import { blockersLoader, deadlinesLoader } from '../objects/object-lists.ts'
import { withPause } from '../objects/pause.ts'
import type { ResolverContext } from '../resolver-context.ts'

/** Reads the facts from which health is judged: each kind is a few bounded statements, and of what the caller may read. */

type Facts = Omit<CauseFacts, 'server'>
type Part = keyof Facts
/** Ids of projects; null: all. */
type Scope = readonly string[] | null
interface Source<Name extends Part> {
  readonly name: Name
  readonly right: Right
  read(context: ResolverContext, projects: Scope): Promise<Facts[Name]>
}
const SOURCES: Source<Part>[] = []
/** Like types, facts of families and hooks are added when their modules are loaded. */
export const addHealthFacts = <Name extends Part>(name: Name, right: Right, read: Source<Name>['read']): void =>
  void SOURCES.push({ name, right, read } as Source<Part>)

/** The most that is read of anything. */
export const MAX_FACTS = 200

/** @param projectId null: of all projects of the caller, and of the server if it may read that */
export async function readFacts(context: ResolverContext, projectId: string | null): Promise<CauseFacts> {
  const { viewer } = context
  const scopeOf = (right: Right): Scope => {
    const projects = projectsWith(viewer, right)
    if (projectId === null) return projects
    return projects === null || projects.includes(projectId) ? [projectId] : []
  }
  const facts: { -readonly [Name in Part]: Facts[Name] } = {
    ...(await readObjects(context, scopeOf(RIGHTS.readObjects))),
    ...{ holds: [], schedules: [], hooks: [], rules: [], tokens: [] },
  }
  await Promise.all(
    SOURCES.map(async ({ name, right, read }) => {
      const scope = scopeOf(right)
      // A caller without the right reads nothing, also not what belongs to all projects.
      if (scope?.length !== 0) Object.assign(facts, { [name]: await read(context, scope) })
    }),
  )
  const isShown = projectId === null && hasRight(viewer, RIGHTS.readMetrics)
  return { ...facts, server: isShown ? await context.server() : null }
}

addHealthFacts('tokens', RIGHTS.readPrincipals, async ({ pool }, projects) =>
  (await expiringTokens(pool, projects, MAX_FACTS)).map(({ name, ...times }) => ({
    subject: { project: null, name, object: null },
    ...times,
  })),
)

const OLDEST: ObjectOrder = { field: 'CREATED_AT', direction: 'ASC' }
const NEWEST: ObjectOrder = { field: 'PHASE_SINCE', direction: 'DESC' }

/** Trees that run or stand, have failed or wait for a decision lead to their objects, so that no object of another tree is read. */
async function readObjects(
  context: ResolverContext,
  projects: Scope,
): Promise<Pick<Facts, 'waits' | 'failures' | 'deadlines' | 'isComplete'>> {
  const { pool, viewer, kinds } = context
  if (projects?.length === 0) return { waits: [], failures: [], deadlines: [], isComplete: true }
  const window = { limit: MAX_FACTS, backward: false, after: null, before: null }
  const find = (query: Partial<ObjectQuery>, order: ObjectOrder = OLDEST) =>
    findObjects(pool, { projects, rootId: viewer.rootId, ...query }, kinds.finishedRule, order, window)
  const [open, standing, failed, awaited] = await Promise.all([
    find({ rootsOnly: true, finished: false }),
    find({ rootsOnly: true, finished: true, kinds: kinds.standing }),
    find({ rootsOnly: true, finished: true, phases: kinds.failedPhases }, NEWEST),
    find({ rootsOnly: true, anyOf: kinds.undecided }),
  ])
  const rootIds = [...open, ...standing].map(({ id }) => id)
  const [unfinished, undecided] = await Promise.all([
    find({ rootIds, finished: false }),
    find({ rootIds, anyOf: kinds.undecided }),
  ])
  const waiting = new Map([...undecided, ...awaited, ...unfinished].map((row) => [row.id, row]))
  const rows = [...waiting.values()]
  const [waits, deadlines, failures] = await Promise.all([
    Promise.all(rows.map((row) => waitsOf(context, row))),
    Promise.all(rows.map((row) => deadlinesOf(context, row))),
    Promise.all(failed.map((row) => failureOf(context, row))),
  ])
  const isComplete = [open, standing, failed, awaited, unfinished, undecided].every(({ length }) => length < MAX_FACTS)
  return { waits: waits.flat(), deadlines: deadlines.flat(), failures, isComplete }
}

async function subjectOf(context: ResolverContext, row: ObjectRow): Promise<HealthSubject> {
  const [project, path] = await Promise.all([
    projectLoader(context).load(row.projectId),
    pathLoader(context).load(row.id),
  ])
  return { project: project?.name ?? null, name: path ?? row.name, object: { id: row.id, rootId: row.rootId } }
}

async function waitsOf(context: ResolverContext, row: ObjectRow): Promise<Facts['waits']> {
  const blockers = await withPause(context, row, await blockersLoader(context).load(row))
  const [first] = blockers
  if (!first) return []
  const [subject, work, pause] = await Promise.all([
    subjectOf(context, row),
    workLoader(context).load(row.id),
    pauseLoader(context).load(row.rootId),
  ])
  const { reason, message, sourceId, types, connected } = first as typeof first & Partial<AgentFields>
  return [
    {
      ...{ subject, reason, message, types, connected },
      since: reason === 'PAUSED' && pause ? pause.at : row.phaseSince,
      // A tree is paused by its root.
      isOwn: reason === 'PAUSED' ? row.parentId === null : sourceId === undefined || sourceId === row.id,
      isOffered: work?.state === WORK_STATE.OFFERED && work.offerAfter === null,
    },
  ]
}
interface AgentFields {
  readonly types: readonly string[]
  readonly connected: boolean
}

async function deadlinesOf(context: ResolverContext, row: ObjectRow): Promise<Facts['deadlines']> {
  const machine = context.kinds.machinesOf(row.kind)[0]
  const isFailure = (phase: Phase | null) => phase !== null && machine?.classes.get(phase) === 'FAILED'
  const [subject, deadlines] = await Promise.all([subjectOf(context, row), deadlinesLoader(context).load(row)])
  return deadlines.filter(({ to }) => isFailure(to)).map((deadline) => ({ subject, ...deadline }))
}

async function failureOf(context: ResolverContext, row: ObjectRow): Promise<Facts['failures'][number]> {
  const [subject, status] = await Promise.all([subjectOf(context, row), statusLoader(context).load(row.id)])
  const transitions = context.kinds.machinesOf(row.kind)[0]?.transitions ?? []
  // Only what failed by itself tells trees apart: the others all name their execution.
  const root = status?.error && rootCauseOf(status.error)
  return {
    subject,
    message: root ? `${root.name}: ${root.code}: ${root.message}` : (status?.error?.message ?? `It is ${row.phase}.`),
    since: row.phaseSince,
    isOver: !transitions.some(({ from, to }) => from === row.phase && to !== 'GONE'),
  }
}
