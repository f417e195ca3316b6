import {
  type AgentBlocker,
  agentBlocker,
  type BackoffBlocker,
  backoffBlocker,
  type ChildrenBlocker,
  type HeldUpTicket,
  type LimitBlocker,
  limitBlockers,
  type ObjectBlocker,
  type WithSource,
} from '../../../core/blocker.ts'
import type { OfferedWork } from '../../../core/claimant.ts'
import type { Retry } from '../../../core/retry.ts'
import { awaitsAgent, isFinished, type ObjectRow, WORK_STATE, type Work } from '../../../core/tree.ts'
import type { Phase, ReconcileMode } from '../../../core/vocabulary.ts'
import { describeGate, type Gate, type GateBlocker, gateBlocker } from '../../gate.ts'
import { type ExporterState, isReady } from './imports.ts'
import { describeUnmet, type UnmetInvariant } from './invariants.ts'
import { withLastProblem } from './last-problem.ts'
import { type PendingRequest, pendingRequestsOf, type RequestedDetails } from './pending-requests.ts'
import { isBeingDeleted } from './sibling-imports.ts'

/** Finds the blockers of an object from plain data about it and about the objects on the chains of its blockers. */

/** An object that waits, or that another one waits for. */
export interface Waiting {
  readonly row: Pick<
    ObjectRow,
    | 'id'
    | 'rootId'
    | 'projectId'
    | 'parentId'
    | 'kind'
    | 'name'
    | 'phase'
    | 'generation'
    | 'observedGeneration'
    | 'jobId'
    | 'finishedJobId'
    | 'deletionRequestedAt'
    | 'waitingFor'
  >
  /** Why it is in a failed phase; null: it is not. */
  readonly problem: string | null
  /** Installations only. */
  readonly installation: (RequestedDetails & { readonly mode: ReconcileMode }) | null
  readonly childCounts: { readonly untriggered: number; readonly open: number; readonly failed: number } | null
  /** With why the last agent has given it back. */
  readonly work:
    | (Pick<Work, 'type' | 'target' | 'state' | 'offerAfter'> &
        Pick<OfferedWork, 'targetFacts'> & {
          /** Null as well once its agent was asked to stop: no other agent gets it then. */
          readonly leaseUntil: Date | null
          readonly lastProblem: string | null
          readonly retry: Retry | null
          /** The gate at which it waits; null: none. */
          readonly gate: Gate | null
        })
    | null
  /** Its tickets of limits; empty: it asks for none, or holds them. */
  readonly tickets: readonly HeldUpTicket[]
  /** Dependencies and dependents among its siblings; of a root: its exporters and importers. */
  readonly dependsOn: readonly string[]
  readonly dependents: readonly string[]
  /** Some of the children that have the job and have not ended it, those without an agent first. */
  readonly openChildren: readonly string[]
  /** Some of the children that ended the job without success. */
  readonly unsuccessfulChildren: readonly string[]
  /** Roots that wait: required names of the scope without a value or an exporter. */
  readonly missing: readonly string[]
  /** Roots that wait: the invariants that they have not met. */
  readonly unmet: readonly UnmetInvariant[]
  /** Roots whose last reconcile failed: the time of the next one. */
  readonly retryAt: Date | null
}

export interface BlockerInputs {
  readonly objects: ReadonlyMap<string, Waiting>
  /** True if a connected agent takes it. */
  isServed(work: OfferedWork): boolean
}

export type DeploymentsBlocker =
  | ObjectBlocker<'DEPENDENCY' | 'PARENT' | 'SIBLING_IMPORT' | 'DECISION'>
  | ChildrenBlocker
  | AgentBlocker
  | { readonly reason: 'REQUEST'; readonly message: string; readonly request: PendingRequest }
  | { readonly reason: 'IMPORT'; readonly message: string; readonly name: string }
  | ({ readonly reason: 'INVARIANT'; readonly message: string } & UnmetInvariant)
  | BackoffBlocker
  | LimitBlocker
  | { readonly reason: 'IGNORED'; readonly message: string }
  | GateBlocker
  | {
      readonly reason: 'NOT_IN_JOB'
      readonly message: string
      readonly cause: LeftOutCause
      /** The object whose end has stopped the job there; null: a cancellation has. */
      readonly objectId: string | null
    }

/** Why a job leaves an object out. */
export type LeftOutCause = 'PREDECESSOR_FAILED' | 'FAILED' | 'CANCELED' | 'STUCK'

type SourcedBlocker = WithSource<DeploymentsBlocker>

/** All blockers of the object: first those at the ends of the chains, then its direct ones. */
export function blockersOf(id: string, details: BlockerInputs, now: Date): readonly SourcedBlocker[] {
  const object = details.objects.get(id)
  if (!object) return []
  const finder = new CauseFinder(details, now)
  const direct = finder.direct(object)
  const found = new Map<string, SourcedBlocker>()
  const add = (blocker: SourcedBlocker) => {
    const key = keyOf(blocker)
    if (!found.has(key)) found.set(key, blocker)
  }
  for (const blocker of direct) if (blocker.reason === 'CHILDREN' && failedBelow(object, details)) add(blocker)
  // A decision about the object itself is a direct one.
  for (const next of finder.awaited(object, direct))
    if (next !== object) for (const cause of finder.causes(next)) add(cause)
  for (const blocker of direct) add(blocker)
  for (const blocker of requestsOf(object)) add(blocker)
  return [...found.values()]
}

/** Objects that wait for the same are one entry, by the first of them. */
function keyOf(blocker: SourcedBlocker): string {
  const { message: _, sourceId: __, ...rest } = blocker
  return JSON.stringify(rest)
}

class CauseFinder {
  readonly #details: BlockerInputs
  readonly #now: Date
  readonly #causes = new Map<string, readonly SourcedBlocker[]>()
  constructor(details: BlockerInputs, now: Date) {
    this.#details = details
    this.#now = now
  }

  direct(object: Waiting): readonly DeploymentsBlocker[] {
    return directBlockers(object, this.#details, this.#now)
  }

  /** The objects that these blockers refer to. */
  awaited(object: Waiting, blockers: readonly DeploymentsBlocker[]): readonly Waiting[] {
    const ids = blockers.flatMap((blocker) => {
      if (blocker.reason === 'CHILDREN') return object.openChildren
      return 'objectId' in blocker && blocker.objectId !== null ? [blocker.objectId] : []
    })
    return ids.flatMap((id) => this.#details.objects.get(id) ?? [])
  }

  /** The blockers at the ends of the chains that begin with this object, which wait for nothing themselves. */
  causes(object: Waiting): readonly SourcedBlocker[] {
    const known = this.#causes.get(object.row.id)
    if (known) return known
    // Ends a cycle: an object that is visited again has no causes.
    this.#causes.set(object.row.id, [])
    const causes = this.direct(object).flatMap((blocker): readonly SourcedBlocker[] => {
      const further = this.awaited(object, [blocker]).flatMap((next) => this.causes(next))
      if (further.length > 0) return further
      // Children that are at work do not block any object but their parent.
      return blocker.reason === 'CHILDREN' ? [] : [{ ...blocker, sourceId: object.row.id }]
    })
    this.#causes.set(object.row.id, causes)
    return causes
  }
}

function directBlockers(object: Waiting, details: BlockerInputs, now: Date): readonly DeploymentsBlocker[] {
  if (object.retryAt && object.retryAt > now) {
    const message = `Its last step failed and is tried again at ${object.retryAt.toISOString()}.`
    return [{ reason: 'BACKOFF', until: object.retryAt, message }]
  }
  if (isPaused(object)) return [PAUSED]
  if (isUndecided(object)) return [about('DECISION', object, repeatDeletion(object))]
  if (isFinished(object.row)) return waitsForItsTurn(object, details)
  const gate = object.work?.gate
  if (gate) return [gate.approval ? about('DECISION', object, describeGate(gate)) : gateBlocker(gate)]
  if (object.row.kind === 'DEPLOY_ITEM') return waitsForAgent(object, details, now)
  return [...waitsForOthers(object, details), ...waitsForChildren(object, details)]
}

const PAUSED = { reason: 'IGNORED', message: 'It is ignored: nothing is started until `ignored` is false.' } as const

/** A job is pending and may not begin. */
function isPaused({ row, installation }: Waiting): boolean {
  if (!installation?.ignored || row.phase === 'PENDING' || !isFinished(row)) return false
  return installation.nextDeletion || installation.nextMode !== null
}

/** A deletion that failed is only ever repeated, and only by a user. */
const isUndecided = ({ row, installation }: Waiting): boolean =>
  row.parentId === null && row.phase === 'DELETE_FAILED' && isFinished(row) && installation?.nextDeletion === false
const repeatDeletion = ({ row, problem }: Waiting): string =>
  `The deletion of ${row.name} failed, and is only repeated if a person asks for it${problem ? `: ${problem}` : '.'}`

/** Requests that were made during a job and wait for its end. */
function requestsOf({ row, installation }: Waiting): readonly DeploymentsBlocker[] {
  if (!installation || isFinished(row)) return []
  return pendingRequestsOf(row, installation).map((request) => {
    const { verb, by, message } = request
    return { reason: 'REQUEST', request, message: `${verb} requested${by === null ? '' : ` by ${by}`}: ${message}` }
  })
}

/** Blockers of an object that does not have its parent's job yet. */
function waitsForItsTurn(object: Waiting, details: BlockerInputs): readonly DeploymentsBlocker[] {
  const { row } = object
  const parent = row.parentId === null ? undefined : details.objects.get(row.parentId)
  if (!parent || row.jobId === parent.row.jobId) return []
  const leftOut = whyLeftOut(object, parent, details)
  if (leftOut) return [leftOut]
  if (isFinished(parent.row)) return []
  if (object.installation?.ignored && row.phase !== 'PENDING' && row.deletionRequestedAt) return [PAUSED]
  if (row.waitingFor > 0 && STARTS_CHILDREN.includes(parent.row.phase)) return siblingsOf(object, details)
  return [about('PARENT', parent, `Its ${wordOf(parent)} ${parent.row.name} is ${parent.row.phase}.`)]
}
/** Phases in which a parent starts its children one by one. */
const STARTS_CHILDREN: readonly Phase[] = ['PROGRESSING', 'DELETING', 'INIT', 'CLEANUP_ORPHANED']

/** The job of the parent gives the object nothing to do any more; null: it may still. */
function whyLeftOut(object: Waiting, parent: Waiting, details: BlockerInputs): DeploymentsBlocker | null {
  const root = details.objects.get(parent.row.rootId)?.installation
  const hasEnded = isFinished(parent.row)
  if (hasEnded && !UNSUCCESSFUL.includes(parent.row.phase)) return null
  const isCancelled = (root?.cancelRequestedAt ?? null) !== null
  if (parent.row.kind === 'INSTALLATION') {
    // An ignored installation gets no job, so it leaves nothing out of one.
    if (!hasEnded || parent.installation?.ignored) return null
    if (parent.row.phase === 'ABORTED') return leftOutBy(root?.cancelBy ?? null)
    const message = `${failureOf(parent, details)}Its installation ${parent.row.name} ended ${parent.row.phase} before it came to this one.`
    return { reason: 'NOT_IN_JOB', cause: 'FAILED', objectId: parent.row.id, message }
  }
  if ((parent.childCounts?.failed ?? 0) > 0) return afterFailure(object, parent, details)
  if (isCancelled && (!hasEnded || parent.row.phase !== 'FAILED')) return leftOutBy(root?.cancelBy ?? null)
  if (!hasEnded) return null
  const message = parent.problem ?? 'No deploy item could continue.'
  return { reason: 'NOT_IN_JOB', cause: 'STUCK', objectId: parent.row.id, message: `Not in this job: ${message}` }
}
/** Phases of an object that ended its job without success. */
export const UNSUCCESSFUL: readonly Phase[] = ['FAILED', 'ABORTED', 'DELETE_FAILED']

const leftOutBy = (by: string | null): DeploymentsBlocker => {
  const message = `Not in this job: it was cancelled${by === null ? '' : ` by ${by}`}.`
  return { reason: 'NOT_IN_JOB', cause: 'CANCELED', objectId: null, message }
}

/** After a failed item nothing more is triggered. The blocker names the item's own predecessor, if it is one. */
function afterFailure(object: Waiting, parent: Waiting, details: BlockerInputs): DeploymentsBlocker {
  const failed = known(parent.unsuccessfulChildren, details)
  const predecessor = findPredecessor(object, new Set(failed), details)
  const other = predecessor ?? failed[0]
  if (!other) {
    const message = `Not in this job: another item of ${parent.row.name} failed in it.`
    return { reason: 'NOT_IN_JOB', cause: 'FAILED', objectId: parent.row.id, message }
  }
  const { id, name, phase } = other.row
  const deleting = object.row.deletionRequestedAt !== null
  const needs = deleting ? `${name} had to go first, and` : `it depends on ${name}, which`
  const message = `Not in this job: ${predecessor ? `${needs} ended ${phase} in it` : `${name} ended ${phase} in it, and nothing more was started`}.`
  return { reason: 'NOT_IN_JOB', cause: predecessor ? 'PREDECESSOR_FAILED' : 'FAILED', objectId: id, message }
}

/** The nearest of the failed items that must end before this one. */
function findPredecessor(object: Waiting, failed: ReadonlySet<Waiting>, details: BlockerInputs): Waiting | undefined {
  const seen = new Set([object])
  for (const item of seen) {
    if (failed.has(item)) return item
    const before = object.row.deletionRequestedAt ? item.dependents : item.dependsOn
    for (const next of known(before, details)) seen.add(next)
  }
  return undefined
}

/** A deletion reverses the order: dependents are deleted first. */
function siblingsOf(object: Waiting, details: BlockerInputs): readonly DeploymentsBlocker[] {
  if (object.row.deletionRequestedAt) return importersOf(object, details)
  return known(object.dependsOn, details)
    .filter((other) => isAwaited(other, object, details))
    .map((other) =>
      about(
        'DEPENDENCY',
        other,
        `${failureOf(other, details)}Depends on ${other.row.name}, which is ${other.row.phase}.`,
      ),
    )
}

function importersOf(object: Waiting, details: BlockerInputs): readonly DeploymentsBlocker[] {
  const isItem = object.row.kind === 'DEPLOY_ITEM'
  return known(object.dependents, details).map((other) =>
    isItem
      ? about('DEPENDENCY', other, `${other.row.name} depends on it and must go first.`)
      : about('SIBLING_IMPORT', other, `${other.row.name} imports from it and must go first.`),
  )
}

/**
 * True if `object` waits for `other`: for roots by their state, for all others by their result in the running job.
 * FORCE ignores failed objects and other trees.
 */
function isAwaited(other: Waiting, object: Waiting, details: BlockerInputs): boolean {
  const root = details.objects.get(object.row.rootId)
  const forced = root?.installation?.mode === 'FORCE'
  if (object.row.parentId === null) {
    const state = exporterState(other)
    return forced ? isBeingDeleted(state) : !isReady(state)
  }
  const { phase, jobId, finishedJobId, kind } = other.row
  if (jobId !== root?.row.jobId || finishedJobId !== jobId) return true
  return phase !== 'SUCCEEDED' && !(forced && kind === 'INSTALLATION')
}
const exporterState = ({ row, installation }: Waiting): ExporterState => ({
  ...row,
  nextMode: installation?.nextMode ?? null,
  nextDeletion: installation?.nextDeletion ?? false,
})

function waitsForOthers(object: Waiting, details: BlockerInputs): readonly DeploymentsBlocker[] {
  const { row } = object
  if (row.phase === 'INIT_DELETE' && row.kind === 'INSTALLATION') return importersOf(object, details)
  if (row.phase !== 'PENDING_DEPENDENCIES') return []
  const imports = object.missing.map(
    (name): DeploymentsBlocker => ({ reason: 'IMPORT', name, message: lacksImport(name) }),
  )
  return [...imports, ...siblingsOf(object, details), ...object.unmet.map(invariantBlocker)]
}

export const invariantBlocker = (unmet: UnmetInvariant) => ({
  ...{ reason: 'INVARIANT' as const, message: describeUnmet(unmet) },
  ...unmet,
})

function waitsForChildren(object: Waiting, details: BlockerInputs): readonly DeploymentsBlocker[] {
  const { row, childCounts } = object
  const { open, failed, untriggered } = childCounts ?? { open: 0, failed: 0, untriggered: 0 }
  if (row.phase === 'PENDING_DEPENDENCIES') return []
  if (open === 0) {
    const isPausedBelow = row.kind === 'INSTALLATION' && DELETES.includes(row.phase) && failed === 0 && untriggered > 0
    return isPausedBelow ? [pausedBelow(row)] : []
  }
  const first = firstOpen(object, details)
  const name = first && `${first.path.join('/')}, which is ${first.item.row.phase}`
  const one = `${name ? `${name},` : 'One of its children'} has`
  const what = open === 1 ? one : `${open} of its children have`
  const example = open > 1 && name ? `, such as ${name}` : ''
  return [
    { reason: 'CHILDREN', open, message: `${failureOf(object, details)}${what} not ended the job yet${example}.` },
  ]
}

/** The first object below it, as deep as is known, that is still in the job. */
function firstOpen(object: Waiting, details: BlockerInputs): Below | null {
  const [child] = known(object.openChildren, details)
  if (!child) return null
  const below = firstOpen(child, details)
  return { item: below?.item ?? child, path: [child.row.name, ...(below?.path ?? [])] }
}

interface Below {
  /** Names from the object down. */
  readonly path: readonly string[]
  readonly item: Waiting
}

/** The first object below it that failed by itself in its job; null: none is known. */
function failedBelow(object: Waiting, details: BlockerInputs): Below | null {
  const failed = known(object.unsuccessfulChildren, details).filter(({ row }) => row.phase !== 'ABORTED')
  for (const item of [...failed, ...known(object.openChildren, details)]) {
    const below = failedBelow(item, details)
    if (below) return { ...below, path: [item.row.name, ...below.path] }
    if (failed.includes(item)) return { path: [item.row.name], item }
  }
  return null
}

/** The cause comes before the consequence: a sentence about what failed below, and a blank; empty if nothing has. */
function failureOf(object: Waiting, details: BlockerInputs): string {
  const found = failedBelow(object, details)
  if (!found) return ''
  const { path, item } = found
  const why = item.problem === null ? '.' : `: ${/[.!?]$/.test(item.problem) ? item.problem : `${item.problem}.`}`
  return `${[object.row.name, ...path].join('/')} ended ${item.row.phase}${why} `
}

/** An untriggered child is ignored in these phases, since all others get their job at once. */
const DELETES: readonly Phase[] = ['CLEANUP_ORPHANED', 'DELETING']
const pausedBelow = ({ name }: Waiting['row']): DeploymentsBlocker => ({
  reason: 'IGNORED',
  message: `An installation in ${name} is ignored: it is not deleted until \`ignored\` is false.`,
})

function waitsForAgent(
  { row, work, tickets }: Waiting,
  details: BlockerInputs,
  now: Date,
): readonly DeploymentsBlocker[] {
  if (!work) return []
  const isParked = row.phase === 'INIT' && work.state === WORK_STATE.DONE
  if (isParked && work.retry && work.offerAfter && work.offerAfter > now)
    return [backoffBlocker(work.offerAfter, work.retry, work.lastProblem)]
  if (isParked) return limitBlockers(tickets, now)
  if (!awaitsAgent(work, now)) return []
  const { type, target, targetFacts, offerAfter, lastProblem, retry, state } = work
  if (offerAfter && offerAfter > now) {
    if (retry && row.phase === 'INIT') return [backoffBlocker(offerAfter, retry, lastProblem)]
    const message = withLastProblem(`It is offered to agents again at ${offerAfter.toISOString()}.`, lastProblem)
    return [{ reason: 'BACKOFF', until: offerAfter, message }]
  }
  const connected = details.isServed({ type, target, targetFacts, projectId: row.projectId })
  const lost = state === WORK_STATE.CLAIMED ? 'Its agent is lost. ' : ''
  return [agentBlocker(type, connected, `${lost}${describeAwaited(type, target, connected)}`)]
}

export function describeAwaited(type: string, target: string | null, connected: boolean): string {
  const which = `an agent of the type ${type}${target === null ? '' : ` for the target ${target}`}`
  return connected ? `Waits for ${which} to take it.` : `Waits for ${which}, and none is connected.`
}

export const lacksImport = (name: string): string => `The import ${name} has no value yet.`

const about = (reason: 'DEPENDENCY' | 'PARENT' | 'SIBLING_IMPORT' | 'DECISION', { row }: Waiting, message: string) => ({
  reason,
  objectId: row.id,
  message,
})
const known = (ids: readonly string[], details: BlockerInputs): readonly Waiting[] =>
  ids.flatMap((id) => details.objects.get(id) ?? [])
const wordOf = ({ row }: Waiting): string => row.kind.toLowerCase().replace('_', ' ')
