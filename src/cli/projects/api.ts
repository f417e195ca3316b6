import { PROJECT_SPEC_FIELDS, type ShownProjectSpec } from '../../manifest/index.ts'
import type { Session } from '../session.ts'

/** A project as the API shows it. */
export interface ShownProject extends ShownProjectSpec {
  readonly name: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly secrets: readonly { readonly name: string; readonly updatedAt: string }[]
}

const PROJECT = `query Project($name: String!) { project(name: $name) {
  name createdAt updatedAt ${PROJECT_SPEC_FIELDS}
  secrets { name updatedAt }
} }`

/** Null when there is none that the user may read. */
export async function readProject({ client, io }: Session, name: string): Promise<ShownProject | null> {
  const { project } = await client.query<{ project: ShownProject | null }>(PROJECT, { name }, { signal: io.signal })
  return project
}
