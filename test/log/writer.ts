import type { Pool } from 'pg'
import { v7 } from 'uuid'
import type { Change, PhaseChangeRecord } from '../../src/core/ports/phase-change.ts'
import { appendChanges } from '../../src/log/append.ts'

/** A root that can be locked, as every writer of a tree does first. */
export async function createRoot(pool: Pool): Promise<string> {
  const id = v7()
  await pool.query(
    `with p as (
      insert into project (id, name, created_at, updated_at) values ($2::uuid, $2::uuid::text, now(), now()) returning id
    ) insert into object (id, root_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
      select $1::uuid, $1::uuid, p.id, 'INSTALLATION', 'root', 0, 'PENDING', now(), now(), now() from p`,
    [id, v7()],
  )
  return id
}

export const change = (rootId: string, patch: Partial<Change> = {}): Change => ({
  objectId: rootId,
  rootId,
  parentId: null,
  parentPath: '',
  projectId: null,
  projectName: 'default',
  kind: 'INSTALLATION',
  name: 'root',
  machine: 'installation',
  from: 'PENDING',
  to: 'INIT',
  actor: 'CONTROLLER',
  by: null,
  byId: null,
  reason: null,
  message: null,
  jobId: null,
  revision: 1,
  rejected: false,
  at: new Date('2026-11-21T10:00:00.123Z'),
  ...patch,
})

/** One transaction of a tree as the engine makes it: the root's lock first, then what to write, the log last. */
export async function write(
  pool: Pool,
  rootId: string,
  changes: readonly Change[] | (() => readonly Change[]),
  { rollback = false, held }: { rollback?: boolean; held?: () => Promise<unknown> } = {},
): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select from object where id = $1 for no key update', [rootId])
    await appendChanges(client, typeof changes === 'function' ? changes() : changes)
    await held?.()
    await client.query(rollback ? 'rollback' : 'commit')
  } finally {
    client.release()
  }
}

/** As many changes as wanted, each with its number in the tree as `message`. */
export const numbered = (rootId: string, from: number, n: number): readonly Change[] =>
  Array.from({ length: n }, (_, i) => change(rootId, { message: String(from + i) }))

/** The whole log, straight from the tables. */
export async function readAll(pool: Pool): Promise<readonly { sequence: number; rootId: string; message: string }[]> {
  const { rows } = await pool.query<{ sequence: number; rootId: string; message: string }>(
    `select b.first_seq + c.idx as sequence, c.root_id as "rootId", c.message
      from phase_change c join log_batch b on b.id = c.batch_id order by 1`,
  )
  return rows
}

export const oneTo = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i + 1)

/** Per tree, the numbers that its changes were given when they were written. */
export const perTree = (
  records: readonly Pick<PhaseChangeRecord, 'rootId' | 'message'>[],
): ReadonlyMap<string, number[]> => {
  const trees = new Map<string, number[]>()
  for (const { rootId, message } of records) trees.set(rootId, [...(trees.get(rootId) ?? []), Number(message)])
  return trees
}
