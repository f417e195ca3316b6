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

/**
 * Paths of existing objects that a path without an object may mean: objects with its last name that are elsewhere,
 * siblings with a similar name, and for a name alone also objects anywhere that begin alike. At most three.
 */
export async function suggestPaths(
  session: Session,
  path: readonly string[],
  project: string | undefined,
): Promise<readonly string[]> {
  const name = path.at(-1) ?? ''
  const { signal } = session.io
  const scope = project === undefined ? {} : { project }
  const filter = { ...scope, nameContains: name.slice(0, 255) }
  const above = path.slice(0, -1)
  const [first = '', ...rest] = project === undefined ? above : []
  const place = { project: project ?? 'default', above, first, rest }
  const { namesakes, parents, projectFirst } = await session.client.query(CANDIDATES, { filter, ...place }, { signal })
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
    const { roots, alike } = await session.client.query(NEARBY, filters, { signal })
    for (const { node } of [...(roots?.edges ?? []), ...(alike?.edges ?? [])])
      siblings.push({ name: node.name, path: shown(node.project.name, node.path) })
  }
  const similar = similarTo(
    name,
    siblings.map((one) => one.name),
  ).flatMap((match) => siblings.filter((one) => one.name === match).map((one) => one.path))
  return [...new Set([...elsewhere, ...similar])].slice(0, 3)
}
