import type { Client } from 'phaseline/client'
import { Unanswerable } from './answer.ts'
import { gql, type ResultOf, type VariablesOf } from './gql.ts'

const LOCATED = 'fragment Located on TreeObject { id kind path project { name } root { id } }'
const BY_ID = gql(`query McpById($id: ID!) { object(id: $id) { ...Located } }\n${LOCATED}`)
const BY_PATH =
  gql(`query McpByPath($project: String!, $path: [String!]!, $first: String!, $rest: [String!]!, $either: Boolean!) {
  objectsByPath(project: $project, path: $path) { ...Located }
  projectFirst: objectsByPath(project: $first, path: $rest) @include(if: $either) { ...Located }
}\n${LOCATED}`)
export type Located = NonNullable<ResultOf<typeof BY_ID>['object']>

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** The object of an id, or of a path with or without its project, as the command line reads it. */
export async function locate(client: Client, text: string, signal: AbortSignal): Promise<Located> {
  const path = text.split('/').filter((name) => name !== '')
  const [first = '', ...rest] = path
  const found = UUID.test(text)
    ? [(await client.query(BY_ID, { id: text }, { signal })).object]
    : await byPath(client, { project: 'default', path, first, rest, either: rest.length > 0 }, signal)
  const [one, other] = found
  if (!one)
    throw new Unanswerable(`There is no object ${text} that you may read. The tool search finds objects by name.`)
  if (other)
    throw new Unanswerable(
      `${text} is ambiguous. Give an id: ${found.map((each) => `${each?.kind} ${each?.id}`).join(', ')}.`,
    )
  return one
}

async function byPath(client: Client, variables: VariablesOf<typeof BY_PATH>, signal: AbortSignal) {
  const { objectsByPath, projectFirst } = await client.query(BY_PATH, variables, { signal })
  return [...objectsByPath, ...(projectFirst ?? [])]
}

/** A path as `locate` reads it in any project. */
export const placeOf = ({
  project,
  path,
}: {
  readonly project: { readonly name: string }
  readonly path: string
}): string => `${project.name}/${path}`
