import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { duration, plain, words } from '../terminal/text.ts'
import { readMachines } from './machines.ts'
import { describeRest, readPages } from './pages.ts'
import { SYMBOLS } from './phases.ts'

const FAILED = gql(`query Failed($project: String, $first: Int!, $after: String) {
  objects(filter: { failed: true, project: $project }, orderBy: { field: CREATED_AT, direction: DESC }, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id kind name path phase phaseSince project { name } root { id name } error { code message } } }
  }
}`)
const UNDONE = gql(`query Undone($filter: PhaseChangeFilter!) {
  phaseChanges(filter: $filter, last: 100) { edges { node { sequence at kind name path projectName objectId machine to message reason } } }
}`)
type Failed = NodeOf<ResultOf<typeof FAILED>['objects']>
type Undone = NodeOf<ResultOf<typeof UNDONE>['phaseChanges']>

/** How long failures are told that have left nothing behind but the log. */
const UNDONE_MS = 86_400_000

/** Prints what failed by itself, each cause once, and what failed within a day and was undone. */
export async function listFailed(
  session: Session,
  { project, limit }: { readonly project?: string; readonly limit: number },
): Promise<void> {
  const { client, io } = session
  const scope = project === undefined ? {} : { project }
  const [listed, undone] = await Promise.all([
    readPages(limit, async (first, after) => {
      const { objects } = await client.query(FAILED, { ...scope, first, after }, { signal: io.signal })
      return objects
    }),
    readUndone(session, scope),
  ])
  const failed = listed?.nodes ?? []
  session.emit({ totalCount: listed?.totalCount ?? 0, objects: failed, undone })
  const lines = [
    ...causesOf(failed).map(({ first, more }) => describe(session, first, more)),
    ...undone.map((change) => describeUndone(session, change)),
  ]
  session.say(...lines)
  session.note(...(lines.length === 0 ? ['Nothing has failed.'] : []), ...(listed ? describeRest(listed) : []))
}

async function readUndone(session: Session, scope: { readonly project?: string }): Promise<readonly Undone[]> {
  const { client, io } = session
  const machines = await readMachines(client, io.signal)
  const since = new Date(Date.now() - UNDONE_MS).toISOString()
  const filter = { ...scope, to: machines.passingFailures, since }
  const { phaseChanges } = await client.query(UNDONE, { filter }, { signal: io.signal })
  const last = new Map<string, Undone>()
  for (const { node } of phaseChanges?.edges ?? []) {
    if (!machines.staysIn(node.machine, node.to)) last.set(node.objectId, node)
  }
  return [...last.values()]
}

/** Failures with the same error are one cause. */
function causesOf(failed: readonly Failed[]): readonly { readonly first: Failed; readonly more: number }[] {
  const causes = new Map<string, { first: Failed; more: number }>()
  for (const object of failed) {
    const key = JSON.stringify([object.kind, object.root.id, object.error?.code, object.error?.message])
    const cause = causes.get(key)
    if (cause) cause.more += 1
    else causes.set(key, { first: object, more: 0 })
  }
  return [...causes.values()]
}

function describe({ paint }: Session, { kind, path, project, phaseSince, error }: Failed, more: number): string {
  const ago = duration(Math.max(0, Date.now() - Date.parse(phaseSince)))
  const others = more > 0 ? paint('dim', ` (and ${more} more in this tree)`) : ''
  const place = plain(`${project.name}/${path}`)
  return `${paint('red', `${SYMBOLS.FAILED.symbol} ${place}`)}  ${words(kind)}, ${ago} ago: ${told(error)}${others}`
}

const told = (error: Failed['error']): string => (error ? plain(`${error.code}: ${error.message}`) : 'without a reason')

function describeUndone({ paint }: Session, { kind, path, projectName, to, at, message, reason }: Undone): string {
  const ago = duration(Math.max(0, Date.now() - Date.parse(at)))
  const place = plain(`${projectName}/${path}`)
  return `${paint('yellow', `${SYMBOLS.UNDOING.symbol} ${place}`)}  ${words(kind)}, ${to} ${ago} ago, undone: ${plain(message ?? reason ?? '')}`
}
