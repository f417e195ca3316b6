import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import { PROJECT_SPEC_FIELDS } from '../../manifest/index.ts'
import type { Session } from '../session.ts'

const PROJECT = gql(`query Project($name: String!) { project(name: $name) {
  id name createdAt updatedAt ${PROJECT_SPEC_FIELDS}
  secrets { name updatedAt }
} }`)
/** A project as the API returns it. */
export type ShownProject = NonNullable<ResultOf<typeof PROJECT>['project']>

/** Null when no project of this name is readable. */
export async function readProject({ client, io }: Session, name: string): Promise<ShownProject | null> {
  const { project } = await client.query(PROJECT, { name }, { signal: io.signal })
  return project
}
