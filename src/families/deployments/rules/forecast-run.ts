import type { ObjectRow } from '../../../core/tree.ts'
import type { ObjectKind } from '../../../core/vocabulary.ts'
import { type Forecast, type ForecastNode, forecast, type PastRun } from './forecast.ts'

interface RunObject extends ObjectRow {
  /** The type of a deploy item; null for others. */
  readonly type: string | null
  readonly ignored: boolean
  readonly isCancelled: boolean
  readonly dependencies: readonly string[]
}
/** An object in a job, from its begin, without what it waited for before. */
interface RunCourse {
  readonly jobId: string
  readonly kind: ObjectKind
  readonly path: string
  readonly from: Date
  /** When it succeeded; null: it did not. */
  readonly to: Date | null
}
interface RunFacts {
  /** Parents before their children. */
  readonly tree: readonly RunObject[]
  /** Jobs that have succeeded, the newest first. */
  readonly jobIds: readonly string[]
  readonly courses: readonly RunCourse[]
}

/** The same object in all runs, even if it was deleted and created again. */
const keyOf = ({ kind, path }: Pick<RunCourse, 'kind' | 'path'>): string => `${kind} ${path}`
const isEnded = ({ jobId, finishedJobId }: ObjectRow): boolean => jobId === finishedJobId

/** The forecast of the job that runs; null: nothing shows when it ends, or it does not end well. */
export function forecastRun({ tree, jobIds, courses }: RunFacts, now: Date): Forecast | null {
  const [root] = tree
  if (!root?.jobId || isEnded(root) || root.isCancelled) return null
  const byJob = Map.groupBy(courses, ({ jobId }) => jobId)
  const present = new Map(byJob.get(root.jobId)?.map((course) => [keyOf(course), course]))
  const begun = present.get(keyOf({ kind: root.kind, path: root.name }))
  if (!begun) return null
  const paths = new Map<string, string>()
  const nodes: ForecastNode[] = []
  for (const row of tree) {
    const above = row.parentId === null ? '' : paths.get(row.parentId)
    // The job writes what comes after it once it is gone.
    if (row.deletionRequestedAt) return null
    if (above === undefined || row.ignored) continue
    const path = above === '' ? row.name : `${above}/${row.name}`
    const key = keyOf({ kind: row.kind, path })
    const course = present.get(key)
    const isIn = row.jobId === root.jobId
    if (isIn && isEnded(row)) {
      // It was kept: it has not changed.
      if (!course) continue
      if (row.phase !== 'SUCCEEDED') return null
    }
    paths.set(row.id, path)
    nodes.push({
      ...{ id: row.id, parentId: row.parentId, dependencies: row.dependencies, key, group: `${row.kind} ${row.type}` },
      course:
        isIn && course ? { from: course.from.getTime(), to: isEnded(row) ? row.phaseSince.getTime() : null } : null,
    })
  }
  const rootKey = keyOf({ kind: root.kind, path: root.name })
  const runs = jobIds.toReversed().flatMap((jobId) => pastRun(byJob.get(jobId) ?? [], rootKey))
  if (runs.length === 0) return null
  return forecast(nodes, runs, { startedAt: begun.from.getTime(), now: now.getTime() })
}

/** None: the log does not reach back to its begin. */
function pastRun(all: readonly RunCourse[], rootKey: string): readonly PastRun[] {
  const courses = new Map(
    all.flatMap((course) =>
      course.to ? [[keyOf(course), { from: course.from.getTime(), to: course.to.getTime() }] as const] : [],
    ),
  )
  const root = courses.get(rootKey)
  return root ? [{ startedAt: root.from, courses }] : []
}
