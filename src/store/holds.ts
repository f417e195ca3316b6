import type { Client } from './client.ts'
import { array, boolean, nullable, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Projects, or the whole instance, in which nothing happens by itself. */

/** True in SQL if automation is held in a project, or in all. */
export const heldSql = (projectId: string): string =>
  `exists (select from automation_hold held where held.project_id is null or held.project_id = ${projectId})`

export interface HoldRow {
  readonly id: string
  /** Null: all projects. */
  readonly projectId: string | null
  readonly reason: string
  readonly by: string
  readonly at: Date
}
const COLUMNS = 'h.id, h.project_id as "projectId", h.reason, h.by, h.at'

const LIST = statement({
  text: `select ${COLUMNS} from automation_hold h
    where $1::uuid[] is null or h.project_id is null or h.project_id = any($1) order by h.at, h.id`,
  params: [nullable(array(uuid))],
  row: table.hold,
})
/** The holds of some projects, and that of all of them. */
export const listHolds = async (client: Client, projects: readonly string[] | null): Promise<readonly HoldRow[]> =>
  (await LIST.query(client, [projects])).rows

const HOLD = statement({
  name: 'hold-automation',
  text: `insert into automation_hold as h (id, project_id, reason, by, at) values ($1, $2, $3, $4, $5)
    on conflict (coalesce(project_id, '00000000-0000-0000-0000-000000000000')) do update set reason = excluded.reason
    returning ${COLUMNS}`,
  params: [uuid, nullable(uuid), text, text, timestamptz],
  row: table.hold,
})
/** One that is there gets the new reason. */
export async function writeHold(client: Client, { id, projectId, reason, by, at }: HoldRow): Promise<HoldRow> {
  const { rows } = await HOLD.query(client, [id, projectId, reason, by, at])
  return rows[0] as HoldRow
}

const RELEASE = statement({
  name: 'release-automation',
  text: 'delete from automation_hold h where h.project_id is not distinct from $1 returning h.id',
  params: [nullable(uuid)],
  row: { id: uuid },
})
/** False: nothing was held. */
export const removeHold = async (client: Client, projectId: string | null): Promise<boolean> =>
  (await RELEASE.query(client, [projectId])).rows.length > 0

/** The original sends them, too; somebody can send them again. */
const GIVE_UP = statement({
  text: `update notification set state = 'FAILED', due = null, ended_at = $1, problem = $2 where state = 'PENDING'`,
  params: [timestamptz, text],
})

const IS_KNOWN = statement({
  text: `select to_regclass('automation_hold') is not null as known`,
  row: { known: boolean },
})
/** Holds all of it, in a database that was restored; false: it is of a version that does nothing by itself. */
export async function holdRestored(client: Client, hold: HoldRow): Promise<boolean> {
  const { rows } = await IS_KNOWN.query(client, [])
  if (!rows[0]?.known) return false
  await writeHold(client, hold)
  await GIVE_UP.query(client, [hold.at, hold.reason])
  return true
}
