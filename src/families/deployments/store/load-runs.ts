import type { ObjectFailure } from '../../../core/errors.ts'
import type { Client } from '../../../store/client.ts'
import {
  array,
  bigint,
  boolean,
  integer,
  joined,
  jsonb,
  nullable,
  text,
  textOf,
  timestamptz,
  uuid,
} from '../../../store/column-types.ts'
import { byKey, inOrder, type Window } from '../../../store/loaders/window.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { ObjectInRun } from '../rules/compare-runs.ts'
import type { RunCause } from '../rules/origin.ts'

/** Runs of roots for the API, the newest first: the one that runs now, then those that have ended. */

const ENDED = `select number, job_id, mode, cause, by, generation, started_at, ended_at, phase, error, exports
  from run where object_id = k.id`
const RUNNING = `select coalesce((select max(number) from run where object_id = k.id), 0) + 1, o.job_id, i.mode,
    i.origin->>'cause', i.origin->>'by', o.generation, (i.origin->>'startedAt')::timestamptz, null, null, null, null
  from object o join installation i on i.object_id = o.id
  where o.id = k.id and o.job_id is distinct from o.finished_job_id and i.origin->>'jobId' = o.job_id::text`

const runsIn = (order: 'asc' | 'desc') =>
  statement({
    text: `select k.id as key, p.number, p.job_id as "jobId", p.mode, p.cause, p.by, p.generation, p.started_at as "startedAt",
        p.ended_at as "endedAt", p.phase, p.error, p.exports
      from unnest($1::uuid[]) k(id) cross join lateral (
        select * from (${ENDED} union all ${RUNNING}) r
          where r.number < coalesce($2::int, 2147483647) and r.number > coalesce($3::int, 0)
          order by r.number ${order} limit $4
      ) p order by k.id, p.number ${order}`,
    params: [array(uuid), nullable(integer), nullable(integer), bigint],
    row: {
      key: uuid,
      number: integer,
      jobId: uuid,
      mode: table.run.mode,
      cause: textOf<RunCause>(),
      by: table.run.by,
      generation: integer,
      startedAt: timestamptz,
      endedAt: nullable(timestamptz),
      phase: nullable(table.run.phase),
      error: nullable(jsonb),
      exports: nullable(jsonb),
    },
  })
const NEWEST_FIRST = runsIn('desc')
const OLDEST_FIRST = runsIn('asc')

interface Loaded {
  readonly key: string
  readonly number: number
  readonly startedAt: Date
  readonly error: unknown
}
export type RunRow = Omit<Awaited<ReturnType<typeof NEWEST_FIRST.query>>['rows'][number] & Loaded, 'key' | 'error'> & {
  readonly error: ObjectFailure | null
}

/** A page of each root's runs. The position of a run is its number. */
export async function loadRuns(
  client: Client,
  ids: readonly string[],
  window: Window<number>,
): Promise<ReadonlyMap<string, readonly RunRow[]>> {
  const { after, before, limit, backward } = window
  const { rows } = await (backward ? OLDEST_FIRST : NEWEST_FIRST).query(client, [ids, after, before, limit])
  const pages = byKey(
    ids,
    rows,
    ({ key: _, error, ...run }): RunRow => ({ ...run, error: error as ObjectFailure | null }),
  )
  return new Map([...pages].map(([id, runs]) => [id, inOrder(runs, window)]))
}

const COUNT = statement({
  text: `select k.id as key, count(*)::int as count
    from unnest($1::uuid[]) k(id) cross join lateral (${ENDED} union all ${RUNNING}) r group by k.id`,
  params: [array(uuid)],
  row: { key: uuid, count: integer },
})
export async function countRuns(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT.query(client, [ids])
  return new Map(rows.map(({ key, count }) => [key, count]))
}

const GENERATIONS = statement({
  text: `select object_id as key, generation, replaced_at as "replacedAt", replaced_by as "replacedBy", case when $2 then spec end as spec
    from spec_generation where object_id = any($1::uuid[]) order by object_id, generation desc`,
  params: [array(uuid), boolean],
  row: {
    key: uuid,
    generation: integer,
    replacedAt: timestamptz,
    replacedBy: table.specGeneration.replacedBy,
    spec: nullable(jsonb),
  },
})
export interface GenerationRow {
  readonly rootId: string
  readonly generation: number
  readonly replacedAt: Date
  readonly replacedBy: string
  /** Null: it was not asked for. */
  readonly spec: unknown
}
/** The earlier specs of each root that are kept, the newest first. Each may be large: they are read only where they are shown. */
export async function loadGenerations(
  client: Client,
  ids: readonly string[],
  { withSpecs }: { readonly withSpecs: boolean },
): Promise<ReadonlyMap<string, readonly GenerationRow[]>> {
  const { rows } = await GENERATIONS.query(client, [ids, withSpecs])
  return byKey(ids, rows, ({ key, ...row }) => ({ rootId: key, ...row }))
}

/** One run of a root; null: there is none of this number, or it is not kept any more. */
export async function loadRun(client: Client, id: string, number: number): Promise<RunRow | null> {
  const window = { after: number + 1, before: number - 1, limit: 1, backward: false }
  return (await loadRuns(client, [id], window)).get(id)?.[0] ?? null
}

const EXPORTS_AT = statement({
  text: `select exports from run where object_id = $1 and phase = 'SUCCEEDED' and ended_at <= $2 order by number desc limit 1`,
  params: [uuid, timestamptz],
  row: { exports: nullable(jsonb) },
})
/** The exports of a root at a time, as far as its runs show. */
export async function loadExportsAt(client: Client, id: string, time: Date): Promise<unknown> {
  const { rows } = await EXPORTS_AT.query(client, [id, time])
  return rows[0]?.exports ?? {}
}

/** Objects that are read of two jobs together, each counted in both. */
export const MAX_RUN_PHASES = 20_000

const RUN_PHASES = statement({
  text: `select c.object_id as "objectId", c.job_id as "jobId", (array_agg(c.kind))[1] as kind,
      (array_agg(concat_ws('/', nullif(c.parent_path, ''), c.name) order by c.batch_id desc))[1] as path,
      (array_agg(c."to" order by c.batch_id desc, c.idx desc))[1] as phase,
      min(c.at) as "startedAt", max(c.at) as "endedAt"
    from phase_change c where c.root_id = $1 and c.job_id = any($2::uuid[]) and c.revision is not null
    group by c.object_id, c.job_id order by c.object_id limit ${MAX_RUN_PHASES + 1}`,
  params: [uuid, array(uuid)],
  row: {
    objectId: uuid,
    jobId: uuid,
    kind: joined(table.objectKind),
    path: joined(text),
    phase: joined(table.phase),
    startedAt: joined(timestamptz),
    endedAt: joined(timestamptz),
  },
})
/**
 * The course of a tree's objects through jobs, from the log, which may have lost the beginning. Objects beyond the
 * limit are left out as a whole.
 */
export async function loadRunPhases(
  client: Client,
  rootId: string,
  jobIds: readonly string[],
): Promise<{ readonly phases: readonly ObjectInRun[]; readonly truncated: boolean }> {
  const { rows } = await RUN_PHASES.query(client, [rootId, jobIds])
  const first = rows[MAX_RUN_PHASES]
  return first
    ? { phases: rows.filter(({ objectId }) => objectId !== first.objectId), truncated: true }
    : { phases: rows, truncated: false }
}
