import { PROJECT_SPEC_FIELDS } from 'phaseline/manifest'
import { gql } from './gql.ts'

/** The operations of the page that creates. */

const REFUSAL = `fragment Refusal on Error {
  code message
  ... on InvalidInputError { fields { path message } }
  ... on ConflictError { object { id kind name phase root { id } } }
}`

const CREATED = `{ __typename ... on TreeObject { id name kind root { id } } ...Refusal } }\n${REFUSAL}` as const
/** The mutations that create or update one object, by their names. */
export const CREATE = {
  createInstallation: gql(
    `mutation Create($input: CreateInstallationInput!) { answer: createInstallation(input: $input) ${CREATED}`,
  ),
  updateInstallation: gql(
    `mutation Update($input: UpdateInstallationInput!) { answer: updateInstallation(input: $input) ${CREATED}`,
  ),
  createTask: gql(`mutation Create($input: CreateTaskInput!) { answer: createTask(input: $input) ${CREATED}`),
  createCloudlet: gql(
    `mutation Create($input: CreateCloudletInput!) { answer: createCloudlet(input: $input) ${CREATED}`,
  ),
  createClusterInst: gql(
    `mutation Create($input: CreateClusterInstInput!) { answer: createClusterInst(input: $input) ${CREATED}`,
  ),
  createAppInst: gql(`mutation Create($input: CreateAppInstInput!) { answer: createAppInst(input: $input) ${CREATED}`),
}

export const CREATE_EVENT = gql(`mutation CreateEvent($input: CreateEventInput!) {
  answer: createEvent(input: $input) {
    __typename
    ... on CreatedEvents {
      events { id name kind phase project { name } root { id } } tasks { id name kind phase project { name } root { id } }
    }
    ...Refusal
  }
}\n${REFUSAL}`)

const PROJECT_WRITTEN = `{ __typename ... on Project { name } ...Refusal } }\n${REFUSAL}` as const
export const CREATE_PROJECT = gql(
  `mutation CreateProject($input: CreateProjectInput!) { answer: createProject(input: $input) ${PROJECT_WRITTEN}`,
)
export const UPDATE_PROJECT = gql(
  `mutation UpdateProject($input: UpdateProjectInput!) { answer: updateProject(input: $input) ${PROJECT_WRITTEN}`,
)

export const PLAN = gql(`query Plan($input: PlanInstallationInput!) {
  answer: planInstallation(input: $input) {
    __typename ... on InstallationPlan { steps { order action kind path reason } } ...Refusal
  }
}\n${REFUSAL}`)

export const EXISTING = gql(`query Existing($project: String!, $kind: ObjectKind!, $path: [String!]!) {
  existing: objectByPath(project: $project, kind: $kind, path: $path) { id name kind phase generation root { id } }
}`)

export const MANIFEST_OF = gql(`query ManifestOf($id: ID!) {
  object(id: $id) {
    id name kind generation parent { id } project { name } labels { key value } ... on Installation { ignored spec }
  }
}`)

export const VIEWER = gql('query Viewer { viewer { name role } }')

export const PROJECTS = gql(`query ProjectChoices {
  projects(first: 500) {
    edges { node { name workerTemplate { runtime } subscriptions { source types } } }
  }
}`)

export const PROJECT_SPEC = gql(`query ProjectSpec($name: String!) { project(name: $name) { ${PROJECT_SPEC_FIELDS} } }`)
