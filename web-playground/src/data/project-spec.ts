import { PROJECT_SPEC_FIELDS, type ProjectSpec, projectSpecOf } from 'phaseline/manifest'
import { REFUSAL } from './documents-create.ts'
import { gql } from './gql.ts'
import type { Session } from './session.ts'

const PROJECT_WRITTEN = `{ __typename ... on Project { name } ...Refusal } }\n${REFUSAL}` as const
export const CREATE_PROJECT = gql(
  `mutation CreateProject($input: CreateProjectInput!) { answer: createProject(input: $input) ${PROJECT_WRITTEN}`,
)
export const UPDATE_PROJECT = gql(
  `mutation UpdateProject($input: UpdateProjectInput!) { answer: updateProject(input: $input) ${PROJECT_WRITTEN}`,
)

const PROJECT_SPEC = gql(`query ProjectSpec($name: String!) { project(name: $name) { ${PROJECT_SPEC_FIELDS} } }`)
/** The settings of a project; null when this viewer finds no project of the name. */
export async function readProjectSpec(
  { client }: Session,
  name: string,
  signal: AbortSignal,
): Promise<ProjectSpec | null> {
  const { project } = await client.query(PROJECT_SPEC, { name }, { signal })
  return project && projectSpecOf(project)
}
