import { blockerLabel, blockerText, causeText, shownBlockers, tellTimes } from '../../client-model/index.ts'
import type { FragmentOf } from '../../documents/gql.ts'
import type { Paint } from '../terminal/paint.ts'
import { duration, words } from '../terminal/text.ts'
import { describeProgress } from '../tree/render.ts'
import { describeFields, type Field } from './fields.ts'
import { markOf } from './phases.ts'

/** The fields that all kinds of objects have. */
export const OBJECT_FIELDS = `fragment Full on TreeObject {
  id kind name path project { name } labels { key value } parent { id name } root { id name } children(first: 0) { totalCount }
  phase phaseClass phaseSince finished generation observedGeneration revision jobId finishedJobId deletionRequestedAt
  error { code message at causeCount causes { kind name code message }
    rootCause { objectId name code message object { path } } }
  blockedBy { reason message source { path } ... on DecisionBlocker { verbs { label } } }
  pendingRequests { verb mode by at message }
  pause { at by reason }
  deadlines { name since expiresAt to message }
  verbs { name allowed }
  progress { step value total unit }
  createdAt updatedAt
}`
export type FullObject = FragmentOf<typeof OBJECT_FIELDS>

/** e.g. `delete, FORCE, by anna, 2026-… (3 s ago): Its deletion begins once the running job has ended.` */
function describeRequest(
  { verb, mode, by, at, message }: FullObject['pendingRequests'][number],
  ago: (time: string) => string,
): string {
  const parts = [verb, mode === 'STANDARD' ? null : mode, by && `by ${by}`, at && ago(at)]
  return `${parts.filter(Boolean).join(', ')}: ${message}`
}

/** e.g. `2 (not run yet: the last run used 1)`. A run that is not over may still use it. */
function describeGeneration({ generation, observedGeneration, finished, verbs }: FullObject): string {
  if (generation === observedGeneration) return String(generation)
  if (observedGeneration > 0)
    return `${generation} (${finished ? `not run yet: the last run used ${observedGeneration}` : `the run uses ${observedGeneration}`})`
  // Others, such as a schedule, have no runs.
  const isUnused = finished && verbs.some(({ name }) => name === 'reconcile')
  return `${generation}${isUnused ? ' (not run yet)' : ''}`
}

/** Verbs whose commands have other names. */
const COMMANDS: Readonly<Record<string, string>> = { rerun: 'task retry --all' }

/** For people: one line for each field that is not empty; `more` are the fields of its kind. */
export function describeObject(object: FullObject, now: number, paint: Paint, more: readonly Field[] = []): string[] {
  const { symbol, style } = markOf(object.phaseClass)
  const ago = (time: string): string => `${time} (${duration(Math.max(0, now - Date.parse(time)))} ago)`
  const { error, jobId, finishedJobId, deletionRequestedAt, progress, children } = object
  const fields: readonly Field[] = [
    ['name', paint('bold', object.name)],
    ['path', object.parent && object.path],
    ['kind', words(object.kind)],
    ['id', object.id],
    ['project', object.project.name],
    ['labels', object.labels.map(({ key, value }) => `${key}=${value}`).join(', ')],
    [
      'parent',
      object.parent &&
        (object.parent.id === object.root.id ? object.root.name : `${object.parent.name} in ${object.root.name}`),
    ],
    ['children', children.totalCount ? String(children.totalCount) : null],
    ...more,
    ['phase', `${paint(style, `${symbol} ${object.phase}`)}${object.finished ? '' : ', not finished'}`],
    ['since', ago(object.phaseSince)],
    [
      'paused',
      object.pause &&
        paint(
          'yellow',
          `by ${object.pause.by}, ${ago(object.pause.at)}${object.pause.reason === null ? '' : `: ${object.pause.reason}`}`,
        ),
    ],
    ['progress', progress && object.phaseClass !== 'DONE' ? describeProgress(progress) : null],
    ['error', error && paint('red', `${error.code}: ${error.message}`)],
    ['root cause', error?.rootCause && paint('red', causeText(error.rootCause))],
    ...(error?.causes ?? []).map(
      (cause) => ['caused by', `${words(cause.kind)} ${cause.name}: ${cause.code}: ${cause.message}`] as const,
    ),
    ...object.pendingRequests.map((request) => ['pending', describeRequest(request, ago)] as const),
    // The requests are there in full.
    ...shownBlockers(object.blockedBy)
      .filter(({ reason }) => reason !== 'REQUEST')
      .map((blocker) => [blockerLabel(blocker), blockerText(blocker, now)] as const),
    ...object.deadlines.map(
      ({ name, expiresAt, to, message }) =>
        ['deadline', tellTimes(`${name} at ${expiresAt}${to ? `, then ${to}` : ''}: ${message}`, now)] as const,
    ),
    ['generation', `${describeGeneration(object)}, revision ${object.revision}`],
    ['job', jobId && `${jobId}${jobId === finishedJobId ? '' : ' (outstanding)'}`],
    ['deletion', deletionRequestedAt && `requested ${ago(deletionRequestedAt)}`],
    ['you may', object.verbs.flatMap(({ name, allowed }) => (allowed ? (COMMANDS[name] ?? name) : [])).join(', ')],
    ['created', ago(object.createdAt)],
    ['updated', ago(object.updatedAt)],
  ]
  return describeFields(fields, paint)
}
