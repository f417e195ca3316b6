import { words } from '../core/words.ts'
import { duration } from './duration.ts'
import { failureText } from './failures.ts'

/** The sentences of answers, as the command line and the MCP server say them. */

/** The change that created a tree. */
export interface Creation {
  readonly at: string
  readonly actor: string
  readonly by: string | null
}
export const CREATION = 'creation { at actor by }'

/** e.g. `created 10m 04s ago by USER ann (2026-11-29T14:05:00.000Z)`. */
export const describeCreation = ({ at, actor, by }: Creation, now: number): string =>
  `created ${duration(now - Date.parse(at))} ago by ${by === null ? actor : `${actor} ${by}`} (${at})`

interface ShownHealth {
  readonly verdict: string
  readonly causeCount: number
  readonly isComplete: boolean
}
/** e.g. `UNHEALTHY  2 causes`. */
export const describeHealth = ({ verdict, causeCount, isComplete }: ShownHealth): string =>
  `${verdict}  ${causeCount === 1 ? '1 cause' : `${causeCount} causes`}${isComplete ? '' : ', of the trees that are open for longest'}`

export interface ShownCause {
  readonly cause: string
  readonly severity: string
  readonly since: string | null
  readonly project: string | null
  readonly subject: string
  readonly count: number
}
/** e.g. `web/helm, for 4m 10s, 5 held up`. */
export function subjectOfCause({ project, subject, since, count }: ShownCause, now: number): string {
  const where = project === null || project === subject ? subject : `${project}/${subject}`
  const held = count > 1 ? `, ${count} held up` : ''
  return `${where}${since === null ? '' : `, for ${duration(now - Date.parse(since))}`}${held}`
}
/** e.g. `✗ no agent: web/helm, for 4m 10s, 5 held up`. */
export const titleOfCause = (cause: ShownCause, now: number): string =>
  `${cause.severity === 'UNHEALTHY' ? '✗' : '!'} ${words(cause.cause)}: ${subjectOfCause(cause, now)}`

interface ShownTreeChange {
  readonly name: string
  readonly root: { readonly kind: string } | null
  readonly creation: Creation | null
  readonly addedCount: number
  readonly removedCount: number
  readonly changedCount: number
  readonly failedCount: number
}
/** e.g. `~ shop (installation) 2 added, 1 removed, 3 changed, 1 failed`. */
export function describeTreeChange(tree: ShownTreeChange, now: number): string {
  const { name, root, creation, addedCount, removedCount, changedCount, failedCount } = tree
  const counts: readonly (readonly [number, string])[] = creation
    ? [[addedCount, addedCount === 1 ? 'object' : 'objects']]
    : [
        [addedCount, 'added'],
        [removedCount, 'removed'],
        [changedCount, 'changed'],
      ]
  const parts = [...counts, [failedCount, 'failed'] as const].filter(([count]) => count > 0)
  const said = [...(creation ? [describeCreation(creation, now)] : []), ...parts.map((part) => part.join(' '))]
  return `${creation ? '+' : root ? '~' : '-'} ${name} (${root ? words(root.kind) : 'deleted'}) ${said.join(', ')}`
}

const MARKS = { ADDED: '+', REMOVED: '-', CHANGED: '~' } as const
export type DifferenceKind = keyof typeof MARKS
export const markOfDifference = (change: DifferenceKind): string => MARKS[change]

interface ShownObjectChange {
  readonly kind: string
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}
/** e.g. `shop/deploy-items/db (deploy item) SUCCEEDED → FAILED`. */
export const describeObjectChange = ({ kind, path, before, after }: ShownObjectChange): string =>
  `${path} (${words(kind)}) ${before === after ? `${after} again` : [before, after].filter(Boolean).join(' → ')}`

interface ShownRun {
  readonly number: number
  readonly phase: string | null
  readonly cause: string
  readonly by: string | null
  readonly generation: number
  readonly durationMs: number | null
  readonly error: Parameters<typeof failureText>[0] | null
}
/** e.g. `run 3: FAILED, took 4.2s, changed by ann, spec 2: shop/deploy-items/db: EXIT_CODE: It ended with 3.` */
export function describeRun({ number, phase, cause, by, generation, durationMs, error }: ShownRun): string {
  const took = durationMs === null ? 'runs' : `took ${duration(durationMs)}`
  const who = by === null ? '' : ` by ${by}`
  return `run ${number}: ${phase ?? 'running'}, ${took}, ${words(cause)}${who}, spec ${generation}${error ? `: ${failureText(error)}` : ''}`
}

/** The differences of two JSON documents, as the API has them. */
export interface ShownDiff {
  readonly truncated: boolean
  readonly differences: readonly {
    readonly path: readonly string[]
    readonly change: DifferenceKind
    readonly before: unknown
    readonly after: unknown
  }[]
}
/** A line for each difference: what was removed, what was added, and what was replaced by what. @param shown a value as text */
export const diffLines = ({ differences }: ShownDiff, shown: (value: unknown) => string) =>
  differences.flatMap(byValue).map(({ path, change, before, after }) => {
    const values =
      change === 'CHANGED' ? `${shown(before)} → ${shown(after)}` : shown(change === 'ADDED' ? after : before)
    return { change, text: `${MARKS[change]} ${path.join('.') || 'all'}: ${values}` }
  })

/** A whole document that was added or removed, as the differences of its values. */
function byValue(difference: ShownDiff['differences'][number]): ShownDiff['differences'] {
  const { path, change, before, after } = difference
  const whole = change === 'ADDED' ? after : before
  if (path.length > 0 || change === 'CHANGED' || typeof whole !== 'object' || whole === null) return [difference]
  return Object.entries(whole).map(([name, value]) => ({ path: [name], change, before: value, after: value }))
}
