import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Machine } from '../core/machine.ts'
import { ACTORS, type FamilyWords, OBJECT_KINDS, PHASES, WORK_ACTIONS } from '../core/vocabulary.ts'
import { addEnumValues } from './columns.ts'
import { guardSql } from './guard-sql.ts'

const LOCK = 72_707_370
/** The enums of the database, with the words that its migrations have. */
const ENUMS = {
  kinds: { type: 'object_kind', words: OBJECT_KINDS },
  phases: { type: 'phase', words: PHASES },
  actors: { type: 'actor', words: ACTORS },
  actions: { type: 'work_action', words: WORK_ACTIONS },
} as const satisfies Readonly<Record<keyof FamilyWords, { readonly type: string; readonly words: readonly string[] }>>

/**
 * Lets the database store words of families that are not the product's, and guard their machines. Migrations have those of
 * the product: an enum only gets more words, and the guard is made again from all machines, the product's included.
 * @param migrations those that the program knows
 */
export async function extendVocabulary(
  pool: Pool,
  families: readonly { readonly words: FamilyWords; readonly machines: readonly Machine[] }[],
  migrations: readonly string[],
): Promise<void> {
  const added = newWords(families.map(({ words }) => words))
  if (added.length === 0) return
  const client = await pool.connect()
  try {
    await client.query('set lock_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [LOCK])
    for (const one of added) await addWord(client, one)
    const machines = families.flatMap((family) => family.machines)
    if (!(await isOfNewer(client, migrations))) await makeGuard(client, machines)
    await client.query('select pg_advisory_unlock($1)', [LOCK])
    await client.query('reset lock_timeout')
    client.release()
  } catch (error) {
    // The lock goes with the connection.
    client.release(true)
    throw error
  }
}

interface NewWord {
  readonly type: string
  readonly word: string
}
const newWords = (families: readonly FamilyWords[]): readonly NewWord[] =>
  Object.entries(ENUMS).flatMap(([key, { type, words }]) => {
    const own = new Set(families.flatMap((all) => Object.keys(all[key as keyof FamilyWords] ?? {})))
    return [...own.difference(new Set<string>(words))].map((word) => ({ type, word }))
  })

/** Each in a statement of its own: a word is known to others, such as the guard, once it is committed. */
async function addWord(client: PoolClient, { type, word }: NewWord): Promise<void> {
  addEnumValues(type, [word])
  await client.query(`alter type "${type}" add value if not exists '${checked(word)}'`)
}

/** Words are written into SQL, where there can be no parameters. */
function checked(word: string): string {
  if (/^[A-Z][A-Z0-9_]{0,62}$/.test(word)) return word
  throw new Error(`${word} is no word: expected capital letters, digits and _`)
}

/** The guard of a newer version allows more than this one knows. */
async function isOfNewer(client: PoolClient, migrations: readonly string[]): Promise<boolean> {
  const { rows } = await client.query(
    'select from "_prisma_migrations" where finished_at is not null and migration_name <> all($1::text[]) limit 1',
    [migrations],
  )
  return rows.length > 0
}

/** Makes the guard anew unless the comment on it says that it is this one. */
async function makeGuard(client: PoolClient, machines: readonly Machine[]): Promise<void> {
  const sql = guardSql(machines)
  const mark = createHash('sha256').update(sql).digest('hex')
  const { rows } = await client.query<{ mark: string | null }>(
    `select obj_description('object_moved_guard'::regproc) as mark`,
  )
  if (rows[0]?.mark === mark) return
  await client.query(`begin; ${sql}\ncomment on function object_moved_guard() is '${mark}'; commit`)
}
