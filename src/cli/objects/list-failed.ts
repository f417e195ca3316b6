import { CLASS_SYMBOLS, finalText, type Group, grouped, undoneFailures } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import { readList } from '../list.ts'
import type { Session } from '../session.ts'
import { duration, words } from '../terminal/text.ts'
import { type LoggedChange, readNewest } from './log-read.ts'
import { readMachines } from './machines.ts'

const FAILED = gql(`query Failed($filter: ObjectFilter!, $first: Int!, $after: String) {
  objects(filter: $filter, orderBy: { field: PHASE_SINCE, direction: DESC }, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id kind name path phase phaseSince project { name } root { id name } error { code message }
      ... on WorkObject { maxAttempts attempts { number finalBy error { code } } } } }
  }
}`)
type Failed = NodeOf<ResultOf<typeof FAILED>['objects']>
type Filter = VariablesOf<typeof FAILED>['filter']

/** How long failures are listed of which only the log is left. */
const UNDONE_MS = 86_400_000

/** Prints what failed by itself, each cause once, and what failed within a day and was undone. */
export async function listFailed(session: Session, filter: Filter, limit: number): Promise<void> {
  const pages = { document: FAILED, page: ({ objects }: ResultOf<typeof FAILED>) => objects }
  const [listed, undone] = await Promise.all([
    readList(session, pages, { filter }, limit),
    readUndone(session, filter, limit + 1),
  ])
  const nodes = listed?.nodes ?? []
  const told = undone.slice(Math.max(0, undone.length - limit))
  session.emit({ totalCount: listed?.totalCount ?? 0, objects: nodes, undone: told })
  session.list({
    columns: { PROJECT: ({ project }) => project.name, NAME: ({ path }) => path, ID: ({ id }) => id },
    nodes,
    lines: [
      ...causesOf(nodes).map(({ first, more }) => describe(session, first, more)),
      ...told.map((change) => describeUndone(session, change)),
    ],
    none: 'Nothing has failed.',
    listed,
  })
  if (undone.length > told.length) session.note('… and more that was undone (--limit)')
}

/** The last failure of each object, the newest at the end. Nothing but the log is left of it, which knows no more than project and kind. */
async function readUndone(
  session: Session,
  { project, kinds, ...others }: Filter,
  limit: number,
): Promise<readonly LoggedChange[]> {
  const { failed: _, ...narrower } = others
  if (Object.values(narrower).some((value) => value !== null)) return []
  const machines = await readMachines(session.client, session.io.signal)
  const undone = undoneFailures(machines.all, kinds ?? null)
  if (undone.kinds.length === 0) return []
  const since = new Date(Date.now() - UNDONE_MS).toISOString()
  const changes = await readNewest(session, { ...undone, ...(project == null ? {} : { project }), since }, limit)
  return [...new Map(changes.map((change) => [change.objectId, change])).values()]
}

/** Failures with the same error are one cause. */
const causesOf = (failed: readonly Failed[]): readonly Group<Failed>[] =>
  grouped(failed, ({ kind, root, error }) => JSON.stringify([kind, root.id, error?.code, error?.message]))

function describe({ paint }: Session, failed: Failed, more: number): string {
  const { kind, path, project, phaseSince, error } = failed
  const ago = duration(Math.max(0, Date.now() - Date.parse(phaseSince)))
  const others = more > 0 ? paint('dim', ` (and ${more} more in this tree)`) : ''
  const place = `${project.name}/${path}`
  return `${paint('red', `${CLASS_SYMBOLS.FAILED} ${place}`)}  ${words(kind)}, ${ago} ago: ${reasonOf(error)}${attemptOf(failed)}${others}`
}

const reasonOf = (error: Failed['error']): string => (error ? `${error.code}: ${error.message}` : 'without a reason')

/** Why it was not attempted again, although its policy allows that. */
function attemptOf({ attempts, maxAttempts }: Failed): string {
  const last = attempts?.at(-1)
  const final = last && finalText(last)
  return final ? ` Attempt ${last.number} of ${maxAttempts}, ${final}.` : ''
}

function describeUndone(
  { paint }: Session,
  { kind, path, projectName, to, at, message, reason }: LoggedChange,
): string {
  const ago = duration(Math.max(0, Date.now() - Date.parse(at)))
  const place = `${projectName}/${path}`
  return `${paint('yellow', `${CLASS_SYMBOLS.UNDOING} ${place}`)}  ${words(kind)}, ${to} ${ago} ago, undone: ${message ?? reason ?? ''}`
}
