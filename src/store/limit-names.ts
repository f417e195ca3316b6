import type { Client } from './client.ts'
import { array, text, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Limits by the names with which specs ask for them. */

/**
 * Finds a limit by its name: one of the project, or `project/name` of another one that shares it. A project has one spelling of its own, so
 * that the same limit is not asked for twice.
 */
export const isNamed = (
  limit: string,
  name: string,
  projectId: string,
): string => `${limit}.name = split_part(${name}, '/', -1)
      and ${limit}.project_id = case when position('/' in ${name}) = 0 then ${projectId}
        else (select p.id from project p where p.name = split_part(${name}, '/', 1) and p.id <> ${projectId}) end
      and (${limit}.project_id = ${projectId} or ${limit}.is_shared)`

const SHARED = statement({
  text: `select l.name from flow_limit l where l.project_id = $1
      and (l.is_shared or exists (select from limit_ticket t where t.limit_id = l.id)) order by l.name limit 1`,
  params: [uuid],
  row: { name: table.flowLimit.name },
})
/** The name of a limit that a project without objects shares, or that others still hold or wait for; null: there is none. */
export const sharedLimitOf = async (client: Client, projectId: string): Promise<string | null> =>
  (await SHARED.query(client, [projectId])).rows[0]?.name ?? null

const MISSING = statement({
  name: 'missing-limits',
  text: `select n.name from unnest($2::text[]) n(name)
    where not exists (select from flow_limit l where ${isNamed('l', 'n.name', '$1')})`,
  params: [uuid, array(text)],
  row: { name: text },
})

/** The names of which the project has no limit, and no other one shares one. */
export async function missingLimits(
  client: Client,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const { rows } = await MISSING.query(client, [projectId, [...new Set(names)]])
  return new Set(rows.map(({ name }) => name))
}
