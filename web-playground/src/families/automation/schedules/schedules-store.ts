import { nodesOf } from 'phaseline/client-model'
import { AskedStore } from '../../../data/asked-store.ts'
import { gql, type NodeOf, type ResultOf } from '../../../data/gql.ts'
import type { Session } from '../../../data/session.ts'

/** Next times that are read of each schedule in a list, and of one alone. */
export const LISTED_TIMES = 20
export const ALL_TIMES = 50

const SCHEDULES =
  gql(`query SchedulesOf($filter: ObjectFilter, $first: Int!, $from: DateTime!, $until: DateTime!, $timeZone: String) {
  objects(filter: $filter, first: 50, orderBy: { field: NAME, direction: ASC }) {
    totalCount
    edges { node { id name phase project { name } ... on Schedule {
      due pausedBecause scheduleSpec { words timeZone } nextTimes(first: $first)
      days(from: $from, until: $until, timeZone: $timeZone) { date fired skipped refused waiting }
      firings(first: 1) { edges { node { due outcome reason } } }
    } } }
  }
}`)
const SCHEDULE =
  gql(`query ScheduleShown($id: ID!, $first: Int!, $from: DateTime!, $until: DateTime!, $timeZone: String) {
  object(id: $id) { id name phase project { name } verbs { obstacle }
    ... on Schedule {
      due pausedBecause editor firedCount nextTimes(first: $first)
      scheduleSpec { words cron timeZone overlap catchUp run }
      days(from: $from, until: $until, timeZone: $timeZone) { date fired skipped refused waiting }
      firings(first: 20) { totalCount edges { node { id due lastDue times byHand outcome reason started { id name phase root { id } } } } }
      backfills(first: 3) { edges { node {
        id from until overlap refire by state times waiting fired running skipped refused
      } } }
    }
  }
}`)

export interface Stretch {
  readonly from: string
  readonly until: string
  readonly timeZone: string
}
/** Only schedules have them. */
type WithDays = { readonly days: readonly unknown[] }
export type ListedSchedule = Extract<NodeOf<ResultOf<typeof SCHEDULES>['objects']>, WithDays>
export type ShownSchedule = Extract<NonNullable<ResultOf<typeof SCHEDULE>['object']>, WithDays>
export type Firing = NodeOf<ShownSchedule['firings']>
export type Backfill = NodeOf<ShownSchedule['backfills']>

export interface SchedulesNow {
  readonly schedules: readonly ListedSchedule[]
  readonly totalCount: number
}
/** @param project empty: all */
export const schedulesOf = (
  session: Session,
  { project, ...stretch }: Stretch & { readonly project: string },
  signal: AbortSignal,
): AskedStore<SchedulesNow> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking): Promise<SchedulesNow> => {
        const filter = { kinds: ['SCHEDULE' as const], ...(project && { project }) }
        const variables = { filter, first: LISTED_TIMES, ...stretch }
        const { objects } = await client.query(SCHEDULES, variables, { signal: asking })
        return {
          schedules: nodesOf(objects).filter((node) => node.days !== undefined),
          totalCount: objects?.totalCount ?? 0,
        }
      },
      concerns: ({ kind }) => kind === 'SCHEDULE',
    },
    signal,
  )

/** Null: there is none that the viewer may read. */
export const scheduleOf = (
  session: Session,
  { id, ...stretch }: Stretch & { readonly id: string },
  signal: AbortSignal,
): AskedStore<{ readonly schedule: ShownSchedule | null }> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking): Promise<{ readonly schedule: ShownSchedule | null }> => {
        const { object } = await client.query(SCHEDULE, { id, first: ALL_TIMES, ...stretch }, { signal: asking })
        return { schedule: object?.days === undefined ? null : object }
      },
      // Its roots move without it.
      concerns: ({ objectId, rootId }) => objectId === id || objectId === rootId,
    },
    signal,
  )
