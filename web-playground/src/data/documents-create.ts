import { PROJECT_SPEC_FIELDS } from 'phaseline/manifest'

/** The operations of the page that creates. */

const REFUSAL = `fragment Refusal on Error {
  code message
  ... on InvalidInputError { fields { path message } }
  ... on ConflictError { object { id kind name phase root { id } } }
}`

export const createMutation = (field: string, selection: string): string => {
  const input = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`
  return `mutation Create($input: ${input}!) {
  answer: ${field}(input: $input) { __typename ${selection} ...Refusal }
}\n${REFUSAL}`
}
export const CREATED = '... on TreeObject { id name kind root { id } }'
export const CREATED_EVENTS = `... on CreatedEvents {
  events { id name kind phase project { name } root { id } } tasks { id name kind phase project { name } root { id } }
}`

export const PLAN = `query Plan($input: PlanInstallationInput!) {
  answer: planInstallation(input: $input) {
    __typename ... on InstallationPlan { steps { order action kind path reason } } ...Refusal
  }
}\n${REFUSAL}`

export const EXISTING = `query Existing($project: String!, $kind: ObjectKind!, $path: [String!]!) {
  existing: objectByPath(project: $project, kind: $kind, path: $path) { id name kind phase generation root { id } }
}`

export const MANIFEST_OF = `query ManifestOf($id: ID!) {
  object(id: $id) {
    id name kind generation parent { id } project { name } labels { key value } ... on Installation { ignored spec }
  }
}`

export const VIEWER = 'query Viewer { viewer { name role } }'

export const PROJECTS = `query ProjectChoices {
  projects(first: 500) {
    edges { node { name workerTemplate { runtime } subscriptions { source types } } }
  }
}`

export const PROJECT_SPEC = `query ProjectSpec($name: String!) { project(name: $name) { ${PROJECT_SPEC_FIELDS} } }`
