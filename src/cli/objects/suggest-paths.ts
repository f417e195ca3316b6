import { similarTo } from '../../core/similar.ts'
import { gql } from '../../documents/gql.ts'
import type { Session } from '../session.ts'

const CANDIDATES = gql(`query Candidates(
  $filter: ObjectFilter!, $project: String!, $above: [String!]!, $first: String!, $rest: [String!]!
) {
  namesakes: objects(filter: $filter, first: 100) { edges { node { name path project { name } } } }
  parents: objectsByPath(project: $project, path: $above) {
    project { name } children(first: 100) { edges { node { name path } } }
  }
  projectFirst: objectsByPath(project: $first, path: $rest) {
    project { name } children(first: 100) { edges { node { name path } } }
  }
}`)
const NEARBY = gql(`query Nearby($roots: ObjectFilter!, $alike: ObjectFilter!) {
  roots: objects(filter: $roots, first: 100) { edges { node { name path project { name } } } }
  alike: objects(filter: $alike, first: 100) { edges { node { name path project { name } } } }
}`)
/** Letters of a name that are right more often than not. */
const BEGINNING = 3
/** A large database takes long to look for names like one, and nobody waits long for a suggestion. */
const PATIENCE_MS = 1_500

/**
 * Paths of existing objects that a path without an object may mean: objects with its last name that are elsewhere,
 * siblings with a similar name, and for a name alone also objects anywhere that begin alike. At most three; none if they take too long.
 */
export async function suggestPaths(
  session: Pick<Session, 'client'> & { readonly io: Pick<Session['io'], 'signal'> },
  path: readonly string[],
  project: string | undefined,
  patienceMs = PATIENCE_MS,
): Promise<readonly string[]> {
  const patience = AbortSignal.timeout(patienceMs)
  const signal = AbortSignal.any([session.io.signal, patience])
  try {
    return await findPaths(session.client, path, project, signal)
  } catch (error) {
    if (patience.aborted && !session.io.signal.aborted) return []
    throw error
  }
}

async function findPaths(
  client: Session['client'],
  path: readonly string[],
  project: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const name = path.at(-1) ?? ''
  const scope = project === undefined ? {} : { project }
  const filter = { ...scope, nameContains: name.slice(0, 255) }
  const above = path.slice(0, -1)
  const [first = '', ...rest] = project === undefined ? above : []
  const place = { project: project ?? 'default', above, first, rest }
  const { namesakes, parents, projectFirst } = await client.query(CANDIDATES, { filter, ...place }, { signal })
  const isHome = (home: string): boolean => project !== undefined || home === 'default'
  const shown = (home: string, found: string): string => (isHome(home) ? found : `${home}/${found}`)
  const elsewhere = (namesakes?.edges ?? []).flatMap(({ node }) =>
    node.name === name ? shown(node.project.name, node.path) : [],
  )
  const siblings = [...parents, ...projectFirst].flatMap((parent) =>
    parent.children.edges.map(({ node }) => ({ name: node.name, path: shown(parent.project.name, node.path) })),
  )
  if (path.length === 1) {
    const filters = {
      roots: { ...scope, rootsOnly: true },
      alike: { ...scope, nameContains: name.slice(0, BEGINNING) },
    }
    const { roots, alike } = await client.query(NEARBY, filters, { signal })
    for (const { node } of [...(roots?.edges ?? []), ...(alike?.edges ?? [])])
      siblings.push({ name: node.name, path: shown(node.project.name, node.path) })
  }
  const similar = similarTo(
    name,
    siblings.map((one) => one.name),
  ).flatMap((match) => siblings.filter((one) => one.name === match).map((one) => one.path))
  return [...new Set([...elsewhere, ...similar])].slice(0, 3)
}
