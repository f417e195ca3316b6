import { type Payload, readPages } from 'phaseline/client-model'
import { PROJECT_SPEC_FIELDS, type ProjectSpec, projectSpecOf } from 'phaseline/manifest'
import type { Question } from '../../data/asked-store.ts'
import { REFUSAL } from '../../data/documents-create.ts'
import { gql, type ResultOf } from '../../data/gql.ts'
import type { Session } from '../../data/session.ts'
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
export type CreatedEvents = Payload<NonNullable<ResultOf<typeof CREATE_EVENT>['answer']>>

const PROJECT_WRITTEN = `{ __typename ... on Project { name } ...Refusal } }\n${REFUSAL}` as const
export const CREATE_PROJECT = gql(
  `mutation CreateProject($input: CreateProjectInput!) { answer: createProject(input: $input) ${PROJECT_WRITTEN}`,
)
export const UPDATE_PROJECT = gql(
  `mutation UpdateProject($input: UpdateProjectInput!) { answer: updateProject(input: $input) ${PROJECT_WRITTEN}`,
)

const PROJECT_SPEC = gql(`query ProjectSpec($name: String!) { project(name: $name) { ${PROJECT_SPEC_FIELDS} } }`)
/** The pipeline parts of a project; null when this viewer finds no project of the name. */
export async function readProjectSpec(
  { client }: Session,
  name: string,
  signal: AbortSignal,
): Promise<ProjectSpec | null> {
  const { project } = await client.query(PROJECT_SPEC, { name }, { signal })
  return project && projectSpecOf(project)
}

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
