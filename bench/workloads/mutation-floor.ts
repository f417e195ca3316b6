import { randomUUID } from 'node:crypto'
import pg from 'pg'

export interface Floor extends AsyncDisposable {
  /** Makes one installation with one item. */
  create(name: string): Promise<void>
}
export interface FloorOptions {
  /** Type of the item. */
  readonly type: string
  readonly connections: number
}

/** The floor does to the same tables, which must exist, the same as a server does, and nothing else. */
const LOCK = 'select id from project where name = $1 for no key update'
const FIND = `select id from object where project_id = $1 and kind = 'INSTALLATION' and name = $2 and parent_id is null`
const OBJECT = `insert into object (id, root_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
  values ($1, $1, $2, 'INSTALLATION', $3, 0, 'PENDING', $4, $4, $4)`
const SPEC = `insert into object_spec (object_id, spec, labels) values ($1, $2, '{}')`
const INSTALLATION = `insert into installation (object_id, mode, next_mode) values ($1, 'STANDARD', 'STANDARD')`
const WAKE = 'insert into wake (root_id, object_ids) values ($1, array[$1::uuid])'
const APPEND = `with batch as (insert into log_batch (id, n) values (nextval('log_batch_id_seq'), 1) returning id),
  content as (
    insert into log_content (batch_id, root_id, object_ids, parent_ids, names, revisions, messages, steps, counts, project_names,
      kinds, machines, "from", "to", actors, "by", reasons, job_ids, rejected, at)
    select id, $1, array[$1]::uuid[], array[null]::uuid[], array[$3], array[1], array[null]::text[], array[1], array[1], array[$2],
      array['INSTALLATION']::object_kind[], array['installation'], array[null]::phase[], array['PENDING']::phase[],
      array['USER']::actor[], array['admin'], array['created'], array[null]::uuid[], array[false], array[$4::timestamptz]
    from batch)
  insert into log_object (object_id, batch_id) select $1, id from batch`
const READ = 'select * from object where id = any($1)'
const PROJECT = 'default'

export async function openFloor(url: string, { type, connections }: FloorOptions): Promise<Floor> {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  const specOf = (): string =>
    JSON.stringify({
      imports: [],
      exports: [],
      installations: [],
      deployItems: [{ name: 'item', type, target: null, dependsOn: [], config: null, timeouts: {} }],
    })
  return {
    async create(name) {
      const id = randomUUID()
      const now = new Date()
      const client = await pool.connect()
      const run = <T extends pg.QueryResultRow>(key: string, text: string, values: readonly unknown[]) =>
        client.query<T>({ name: key, text, values: [...values] })
      try {
        await client.query('begin')
        const { rows } = await run<{ id: string }>('lock', LOCK, [PROJECT])
        const project = rows[0]?.id
        const found = await run('find', FIND, [project, name])
        if (found.rowCount) throw new Error(`${name} exists`)
        await run('object', OBJECT, [id, project, name, now])
        await run('spec', SPEC, [id, specOf()])
        await run('installation', INSTALLATION, [id])
        await run('wake', WAKE, [id])
        await run('append', APPEND, [id, PROJECT, name, now])
        await client.query('commit')
        await run('read', READ, [[id]])
      } finally {
        client.release()
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
