import { readPages } from 'phaseline/client-model'
import { AskedStore } from '../../data/asked-store.ts'
import { gql, type NodeOf, type ResultOf } from '../../data/gql.ts'
import type { Session } from '../../data/session.ts'

/** More than a person reads; the choice of a project finds the others. */
const MOST = 1_000
/** Keys, holders and waiters that are shown of a limit. */
const SHOWN = 50

const LIMITS = gql(`query Limits($project: String, $first: Int!, $after: String) {
  limits(project: $project, first: $first, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges { node { id name max maxPerKey rate { count perMs } pause { at } runningCount waitingCount project { name } } }
  }
}`)
export type Listed = NodeOf<ResultOf<typeof LIMITS>['limits']>

const LIMIT =
  gql(`query OneLimit($project: String!, $name: String!, $first: Int!) { limit(project: $project, name: $name) {
  id name description max maxPerKey rate { count perMs } weights { key weight } strategy debounceMs shared pause { at by reason } project { name }
  overrides { key maxPerKey rate { count perMs } until by }
  keys(first: $first) { totalCount edges { node { key runningCount waitingCount } } }
  holders(first: $first) { totalCount edges { node { key grantedAt object { id name path phase root { id } } } } }
  queue(first: $first) { totalCount edges { node { key priority position askedAt object { id name path phase root { id } } } } }
} }`)
export type Limit = NonNullable<ResultOf<typeof LIMIT>['limit']>
export type Holder = NodeOf<NonNullable<Limit['holders']>>
export type Waiter = NodeOf<NonNullable<Limit['queue']>>

/** Objects take and free limits with phase changes. */
const KINDS = new Set(['WORKER', 'JOB', 'DEPLOY_ITEM'])

export const limitsOf = (session: Session, project: string, signal: AbortSignal) =>
  new AskedStore(
    session,
    {
      concerns: ({ kind, projectName }) => KINDS.has(kind) && (project === '' || projectName === project),
      ask: async ({ client }, asking) => {
        const page = async (first: number, after: string | null) =>
          (await client.query(LIMITS, { project: project || null, first, after }, { signal: asking })).limits
        return (await readPages<Listed>(MOST, page)) ?? { nodes: [], totalCount: 0 }
      },
    },
    signal,
  )

interface LimitName {
  readonly project: string
  readonly name: string
}
export const limitOf = (session: Session, { project, name }: LimitName, signal: AbortSignal) =>
  new AskedStore(
    session,
    {
      concerns: ({ kind, projectName }) => KINDS.has(kind) && projectName === project,
      ask: async ({ client }, asking) => ({
        limit: (await client.query(LIMIT, { project, name, first: SHOWN }, { signal: asking })).limit,
      }),
    },
    signal,
  )
