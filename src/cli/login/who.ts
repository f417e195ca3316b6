import { ClientError } from '../../client/client-error.ts'
import { createClient } from '../../client/create-client.ts'
import type { Client, ClientOptions } from '../../client/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'

/** The fields of a viewer that say who it is. */
export const WHO_FIELDS = 'id name administrator grants { role project { name } }'
const WHO = gql(`query Who { viewer { ${WHO_FIELDS} } }`)
export type Who = NonNullable<ResultOf<typeof WHO>['viewer']>

/**
 * The server's view of the caller.
 * @throws ClientError
 */
export async function askWho(client: Client, signal: AbortSignal): Promise<Who> {
  return requireWho((await client.query(WHO, {}, { signal })).viewer)
}

/** @throws ClientError */
export function requireWho(viewer: Who | null): Who {
  if (viewer) return viewer
  throw new ClientError('unauthorized', 'The server does not say who you are.')
}

export async function askWhoHas(token: ClientOptions['token'], url: string, signal: AbortSignal): Promise<Who> {
  await using client = createClient({ url, token })
  return await askWho(client, signal)
}

/** In a line, e.g. `ada: EDITOR and VIEWER of web, MONITOR of all projects`. */
export function describeWho({ name, administrator, grants }: Who): string {
  const byProject = Map.groupBy(grants, ({ project }) => (project ? project.name : 'all projects'))
  const roles = [...byProject].map(([project, ofIt]) => `${ofIt.map(({ role }) => role).join(' and ')} of ${project}`)
  const rights = [...(administrator ? ['administrator'] : []), ...roles]
  return `${name}: ${rights.length > 0 ? rights.join(', ') : 'no rights in any project'}`
}
