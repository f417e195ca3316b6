import { type FragmentOf, gql } from '../../documents/gql.ts'
import { PROJECT_SPEC_FIELDS } from '../../manifest/index.ts'
import { readNodes } from '../list.ts'
import type { Session } from '../session.ts'

export const PROJECT_FIELDS = `fragment ProjectFields on Project {
  id name createdAt updatedAt ${PROJECT_SPEC_FIELDS}
  secrets { name updatedAt }
  dataObjects(first: 100) { pageInfo { hasNextPage } edges { node { name exporter { id } } } }
}`
/** A project as the API returns it. */
export type ShownProject = FragmentOf<typeof PROJECT_FIELDS>

const PROJECT = gql(`query Project($name: String!) { project(name: $name) { ...ProjectFields } }\n${PROJECT_FIELDS}`)
const NAMES = gql(`query ProjectNames($first: Int!, $after: String) {
  projects(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { name } } }
}`)

/** Null when no project of this name is readable. */
export async function readProject({ client, io }: Session, name: string): Promise<ShownProject | null> {
  const { project } = await client.query(PROJECT, { name }, { signal: io.signal })
  return project
}

/** All that are readable. */
export const readProjectNames = async (session: Session): Promise<readonly string[]> =>
  (await readNodes(session, { document: NAMES, page: ({ projects }) => projects }, {})).map(({ name }) => name)
