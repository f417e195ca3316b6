import type { PhaseChange } from '../../client/index.ts'
import { afterChange, type Machines, matchesFilter, type ObjectSelection, placeOf } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import type { Columns } from '../terminal/table.ts'
import { explainGap } from './log-read.ts'
import { readMachines } from './machines.ts'
import { LISTED } from './object-list.ts'
import { readAgain } from './read-again.ts'

const CHANGED = gql(`query WatchedObjects($ids: [ID!]!) {
  nodes(ids: $ids) { ... on TreeObject { labels { key value } ${LISTED} } }
}`)
type Read = Extract<ResultOf<typeof CHANGED>['nodes'][number], { readonly id: string }>
type Listed = Omit<Read, 'labels' | '__typename'>

interface Watched {
  /** The list was selected by it. */
  readonly filter: ObjectSelection
  readonly listed: readonly Listed[]
  /** A cursor of the log from before the list was read. */
  readonly after: string
  readonly columns: Columns<Listed>
}

/**
 * Prints a line for each phase change of the objects of a list: those that were listed, and those that match after a change. An
 * object that matches no more is printed once with its new phase.
 */
export async function watchList(session: Session, { filter, listed, after, columns }: Watched): Promise<ExitCode> {
  const { client, io } = session
  const { project, kinds } = filter
  const machines = await readMachines(client, io.signal)
  const known = new Map(listed.map(({ id, revision }) => [id, revision]))
  let reached = 0
  for await (const { changes, through } of client.followPhases({
    filter: { ...(project != null && { project }), ...(kinds && { kinds }) },
    after,
    signal: io.signal,
    onExpired: (log) => explainGap(session, log, reached),
  })) {
    const moved = changes.filter((change) => machines.moves(change) && matchesFilter(filter, placeOf(change)))
    const read = await readChanged(session, moved)
    for (const change of moved) {
      const { objectId: id, revision, to, sequence } = change
      const before = known.get(id)
      // The list was read after this change.
      if (before !== undefined && revision <= before) continue
      const object = read.get(id)
      // The labels of an object that is gone meanwhile are unknown: it keeps its place in the list until it goes.
      const isLabelled = object !== undefined || before !== undefined || !filter.labels
      const judged = { ...afterChange(change, machines), ...(object && { labels: object.labels }) }
      const matches = to !== 'GONE' && isLabelled && matchesFilter(filter, judged)
      if (matches) known.set(id, revision)
      else known.delete(id)
      if (!matches && before === undefined && !(to === 'GONE' && isUnconditional(filter))) continue
      const node = asChanged(object, change, machines)
      session.emit({ ...node, sequence })
      session.list({ columns, above: listed, nodes: [node] })
    }
    reached = through
  }
  return EXIT.interrupted
}

async function readChanged(
  { client, io }: Session,
  changes: readonly PhaseChange[],
): Promise<ReadonlyMap<string, Read>> {
  const ids = [...new Set(changes.map(({ objectId }) => objectId))]
  if (ids.length === 0) return new Map()
  const { nodes } = await readAgain(io.signal, () => client.query(CHANGED, { ids }, { signal: io.signal }))
  return new Map(nodes.flatMap((node) => (node?.id === undefined ? [] : [[node.id, node as Read]])))
}

/** True if an object matches whatever its labels and its phase are. */
const isUnconditional = ({ labels, phases, finished }: ObjectSelection): boolean =>
  !labels && !phases && (finished ?? null) === null

/** The object right after the change. It may have changed again since, or be gone. */
function asChanged(object: Read | undefined, change: PhaseChange, machines: Machines): Listed {
  const { objectId: id, kind, name, path, to, at, revision, projectName } = change
  if (object?.revision === revision) {
    const { labels: _, ...listed } = object
    return listed
  }
  return {
    ...{ id, kind, name, path: object?.path ?? path, project: { name: projectName }, revision },
    ...{ phase: to, phaseClass: machines.classOf(to), phaseSince: at, finished: machines.isFinal(kind, to) },
    ...{ error: null, pendingRequests: [] },
  } as Listed
}
