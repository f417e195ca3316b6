import type { Client } from 'phaseline/client'
import { nodesOf } from 'phaseline/client-model'
import type { ListedRow } from '../model/object.ts'
import type { Pair } from '../model/pairs.ts'
import { isAt, type Sought } from '../model/sought.ts'
import { AT_PATH, LISTED_BY_ID, ROWS } from './documents.ts'

/** Objects whose names have the end of a path, among which those at the path are. */
const NAMESAKES = 100

/** Objects that somebody looks for, the newest first. @param project of paths that do not begin with one */
export async function foundObjects(
  client: Client,
  { sought, project, most }: { readonly sought: Sought; readonly project: string; readonly most: number },
  signal: AbortSignal,
): Promise<readonly ListedRow[]> {
  const list = async (
    filter: { readonly labels: readonly Pair[] } | { readonly nameContains: string },
    first = most,
  ): Promise<readonly ListedRow[]> => {
    const variables = { filter, orderBy: { field: 'CREATED_AT', direction: 'DESC' }, first, after: null } as const
    return nodesOf((await client.query(ROWS, variables, { signal })).objects)
  }
  switch (sought.by) {
    case 'id': {
      const { nodes } = await client.query(LISTED_BY_ID, { ids: [sought.id] }, { signal })
      return nodes.flatMap((node) => (node?.id === undefined ? [] : [node]))
    }
    case 'label':
      return list({ labels: [sought.label] })
    case 'name':
      return list({ nameContains: sought.name })
    case 'path': {
      const [first, ...rest] = sought.names
      const exact = { own: project || 'default', path: sought.names, first, rest }
      const [{ within, named }, namesakes] = await Promise.all([
        client.query(AT_PATH, exact, { signal }),
        list({ nameContains: sought.names.at(-1) ?? '' }, NAMESAKES),
      ])
      const all = [...within, ...named, ...namesakes.filter((row) => isAt(row, sought.path))]
      return [...new Map(all.map((row) => [row.id, row])).values()].slice(0, most)
    }
  }
}
