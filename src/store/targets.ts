import type { Labels } from '../core/place.ts'
import type { TargetFacts } from '../core/target.ts'
import type { Client } from './client.ts'
import { boolean, integer, json, nullable, text, uuid } from './column-types.ts'
import { projectRecords, type RecordOf } from './project-records.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Targets of projects, with their credentials sealed. */

const { type, labels, description, sealed } = table.target
export const TARGETS = projectRecords({
  table: 'target',
  columns: { type, labels: json<Labels>(), description },
  // Lists have everything but the credentials.
  derived: { hasCredentials: ['r.sealed is not null', boolean] },
  unread: { sealed },
  filters: {
    params: [nullable(text), labels],
    sql: (first) => `($${first}::text is null or r.type = $${first}) and r.labels @> $${first + 1}::jsonb`,
  },
})
export type TargetRow = RecordOf<typeof TARGETS>

/** The place that credentials are sealed for. No secret of a project has such a name. */
export const sealedFor = (target: { readonly projectId: string; readonly name: string }) => ({
  projectId: target.projectId,
  name: `target/${target.name}`,
})

const FIND = statement({
  name: 'find-sealed-target',
  text: `select r.sealed, ${TARGETS.selection} where r.project_id = $1 and r.name = $2`,
  params: [uuid, text],
  row: { ...TARGETS.row, sealed },
})
export type SealedTarget = TargetRow & { readonly sealed: Buffer | null }

export async function findTarget(client: Client, project: string, wanted: string): Promise<SealedTarget | null> {
  const { rows } = await FIND.query(client, [project, wanted])
  return rows[0] ?? null
}

const MEASURE = statement({
  name: 'measure-targets',
  text: `select count(*)::int as count, coalesce(sum(octet_length(sealed)), 0)::int as "sealedBytes"
      from target where project_id = $1 and name <> $2`,
  params: [uuid, text],
  row: { count: integer, sealedBytes: integer },
})

/** The number and the size of the other targets. */
export async function measureTargets(
  client: Client,
  project: string,
  except: string,
): Promise<{ readonly count: number; readonly sealedBytes: number }> {
  const { rows } = await MEASURE.query(client, [project, except])
  return rows[0] ?? { count: 0, sealedBytes: 0 }
}

const FACTS = statement({
  name: 'target-facts',
  text: `select t.name, t.type, t.labels from target t where t.project_id = $1 order by t.name`,
  params: [uuid],
  row: { name: table.target.name, type, labels: json<Labels>() },
})

/** The targets that selectors choose from, by name. */
export const loadTargetFacts = async (client: Client, project: string): Promise<readonly TargetFacts[]> =>
  (await FACTS.query(client, [project])).rows
