import type { ObjectRow } from '../../../core/tree.ts'
import type { ObjectKind } from '../../../core/vocabulary.ts'
import { type ExpectedEnd, type Forecast, type ForecastNode, forecast, type PastRun } from './forecast.ts'
import { nestedDependencies } from './scope.ts'
import type { InstallationSpec } from './spec.ts'

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

const groupOf = (kind: ObjectKind, type: string | null = null): string => `${kind} ${type}`

/** The paths of the objects of a tree, by id. */
function pathsOf(tree: readonly RunObject[]): ReadonlyMap<string, string> {
  const paths = new Map<string, string>()
  for (const { id, parentId, name } of tree) paths.set(id, parentId === null ? name : `${paths.get(parentId)}/${name}`)
  return paths
}

/** The forecast of the job that runs; null: nothing shows when it ends, or it does not end well. */
export function forecastRun(facts: RunFacts, now: Date): Forecast | null {
  const { tree, courses } = facts
  const [root] = tree
  // A job deletes orphans before it writes what comes after them.
  if (!root?.jobId || isEnded(root) || root.isCancelled || tree.some((row) => row.deletionRequestedAt)) return null
  const present = new Map(courses.flatMap((one) => (one.jobId === root.jobId ? [[keyOf(one), one] as const] : [])))
  const begun = present.get(keyOf({ kind: root.kind, path: root.name }))
  if (!begun) return null
  const paths = pathsOf(tree)
  const nodes = new Map<string, ForecastNode>()
  for (const { id, parentId, kind, type, dependencies, ignored, ...row } of tree) {
    if (ignored || (parentId !== null && !nodes.has(parentId))) continue
    const key = keyOf({ kind, path: paths.get(id) ?? '' })
    const from = row.jobId === root.jobId ? present.get(key)?.from.getTime() : undefined
    const hasEnded = row.jobId === root.jobId && row.jobId === row.finishedJobId
    // It was kept: it has not changed.
    if (hasEnded && from === undefined) continue
    if (hasEnded && row.phase !== 'SUCCEEDED') return null
    const course = from === undefined ? null : { from, to: hasEnded ? row.phaseSince.getTime() : null }
    nodes.set(id, { id, parentId, dependencies, key, group: groupOf(kind, type), course })
  }
  return forecast([...nodes.values()], pastRuns(facts, root.name), {
    startedAt: begun.from.getTime(),
    now: now.getTime(),
  })
}

/** The forecast of a run that begins now, with another spec. Null also where only the job knows its items, or deletes some first. */
export function forecastPlan(facts: RunFacts, name: string, spec: InstallationSpec, now: Date): ExpectedEnd | null {
  const paths = pathsOf(facts.tree)
  const ids = new Map(facts.tree.map(({ id, kind }) => [keyOf({ kind, path: paths.get(id) ?? '' }), id]))
  const nodes = plannedNodes({ path: name, parentId: null, dependencies: [] }, spec)
  const planned = new Set(nodes.map(({ key }) => key))
  if (!isKnown(spec) || [...ids.keys()].some((key) => !planned.has(key))) return null
  const at = now.getTime()
  const found = forecast(nodes, pastRuns(facts, name), { startedAt: at, now: at })?.of(nodes[0]?.id ?? '')
  return found ? { ...found, criticalPath: found.criticalPath.flatMap((key) => ids.get(key) ?? []) } : null
}

const isKnown = ({ deployItems, installations }: InstallationSpec): boolean =>
  deployItems.every(({ forEach }) => forEach === undefined) && installations.every(({ spec }) => isKnown(spec))

interface PlannedPlace {
  readonly path: string
  readonly parentId: string | null
  readonly dependencies: readonly string[]
}
/** An installation with all that is in it, by keys in place of ids. */
function plannedNodes(
  place: PlannedPlace,
  { deployItems, installations, ...spec }: InstallationSpec,
): readonly ForecastNode[] {
  const node = (kind: ObjectKind, { path, ...rest }: PlannedPlace, type?: string): ForecastNode => {
    const key = keyOf({ kind, path })
    return { ...rest, id: key, key, group: groupOf(kind, type), course: null }
  }
  const own = node('INSTALLATION', place)
  const below = `${place.path}/deploy-items`
  const execution = node('EXECUTION', { path: below, parentId: own.id, dependencies: [] })
  const dependencies = nestedDependencies({ ...spec, deployItems, installations })
  const keys = (kind: ObjectKind, path: string, names: readonly string[] = []) =>
    names.map((name) => keyOf({ kind, path: `${path}/${name}` }))
  return [
    own,
    ...installations.flatMap(({ name, spec: nested }) => {
      const after = keys('INSTALLATION', place.path, dependencies.get(name))
      return plannedNodes({ path: `${place.path}/${name}`, parentId: own.id, dependencies: after }, nested)
    }),
    ...(deployItems.length > 0 ? [execution] : []),
    ...deployItems.map(({ name, type, dependsOn }) =>
      node(
        'DEPLOY_ITEM',
        { path: `${below}/${name}`, parentId: execution.id, dependencies: keys('DEPLOY_ITEM', below, dependsOn) },
        type,
      ),
    ),
  ]
}

/** The oldest first, without those to whose begin the log does not reach back. */
function pastRuns({ jobIds, courses }: RunFacts, rootName: string): readonly PastRun[] {
  const byJob = Map.groupBy(courses, ({ jobId }) => jobId)
  return jobIds.toReversed().flatMap((jobId): readonly PastRun[] => {
    const ended = new Map(
      byJob
        .get(jobId)
        ?.flatMap((course) =>
          course.to ? [[keyOf(course), { from: course.from.getTime(), to: course.to.getTime() }] as const] : [],
        ),
    )
    const root = ended.get(keyOf({ kind: 'INSTALLATION', path: rootName }))
    return root ? [{ startedAt: root.from, courses: ended }] : []
  })
}
