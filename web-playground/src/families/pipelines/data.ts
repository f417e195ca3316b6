import { readPages, type SuccessMember } from 'phaseline/client-model'
import type { Question } from '../../data/asked-store.ts'
import { REFUSAL } from '../../data/documents-create.ts'
import { gql, type ResultOf } from '../../data/gql.ts'
import type { Place } from './model/places.ts'

export const CREATE_EVENT = gql(`mutation CreateEvent($input: CreateEventInput!) {
  answer: createEvent(input: $input) {
    __typename
    ... on CreatedEvents {
      events { id name kind phase project { name } root { id } } tasks { id name kind phase project { name } root { id } }
    }
    ...Refusal
  }
}\n${REFUSAL}`)
export type CreatedEvents = SuccessMember<NonNullable<ResultOf<typeof CREATE_EVENT>['answer']>>

const PLACES = gql(`query Places($first: Int!, $after: String) {
  places(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id name type labels { key value } capacity runningWorkers runningJobs state seenAt startingSince waitingSince
      drain { at by reason }
    } }
  }
}`)
const PLACES_PAGE = 200
/** The most places that a page shows. */
const MOST_PLACES = 2_000

export interface Places {
  readonly places: readonly Place[]
  readonly total: number
}

/** Workloads at a place change with phases; the runtime's reports and drains do not. */
export const PLACES_NOW: Question<Places> = {
  concerns: ({ kind }) => kind === 'WORKER' || kind === 'JOB',
  async ask({ client }, signal) {
    const listed = await readPages<Place>(MOST_PLACES, async (_, after) => {
      return (await client.query(PLACES, { first: PLACES_PAGE, after }, { signal })).places
    })
    const places = listed?.nodes ?? []
    return { places, total: listed?.totalCount ?? places.length }
  },
}
