import { z } from 'zod'
import { judgeStart } from '../core/schema-range.ts'

/** The header of a backup, before the archive of pg_dump. It has no secret, and no key of one. */

/** A later one is refused: what it promises is not known here. */
export const FORMAT = 1
/** Larger ones are not read: a database has a few dozen tables. */
export const MAX_MANIFEST_BYTES = 1024 * 1024

const count = z.int().nonnegative()
const contents = z.object({
  /** The names of the migrations that were applied, in order. */
  migrations: z.array(z.string()).min(1),
  /** The first migration that a program has to know to work with this schema. */
  oldest: z.string(),
  log: z.object({ id: z.string(), epoch: count, head: count }),
  /** Number of rows of each table. */
  rows: z.record(z.string(), count),
  /** Ids of the keys that open the sealed secrets, and how many each of them has sealed. */
  secretKeys: z.array(z.object({ keyId: z.string(), count })),
})
const manifest = contents.extend({
  /** This program's version. */
  version: z.string(),
  madeAt: z.iso.datetime(),
  /** Major versions of the server, and of the pg_dump that wrote the archive. */
  postgres: count,
  tool: count,
})

/** The contents of a database, as of one snapshot. */
export type Contents = z.infer<typeof contents>
export type Manifest = z.infer<typeof manifest>

/** Null: this is no manifest. */
export function parseManifest(line: string): Manifest | null {
  try {
    return manifest.safeParse(JSON.parse(line)).data ?? null
  } catch {
    return null
  }
}

/** Why programs with these migrations must not work with what a backup holds; null: they may. */
export const judgeSchema = (known: readonly string[], { migrations, oldest }: Contents): string | null =>
  judgeStart(known, { applied: migrations, oldest })

/** The first difference between the restored database and its backup; null: none. */
export function findDifference(backup: Contents, restored: Contents): string | null {
  const tables = new Set([...Object.keys(backup.rows), ...Object.keys(restored.rows)])
  for (const table of [...tables].sort()) {
    const [expected, found] = [backup.rows[table], restored.rows[table]]
    if (found === undefined) return `the table ${table} is missing`
    if (expected === undefined) return `there is a table ${table} that the backup does not have`
    if (expected !== found) return `the table ${table} has ${found} rows and had ${expected}`
  }
  if (backup.migrations.join() !== restored.migrations.join()) return 'other migrations are applied'
  if (backup.oldest !== restored.oldest) return 'its schema fits other programs'
  const [{ id, epoch, head }, log] = [backup.log, restored.log]
  if (id !== log.id || epoch !== log.epoch || head !== log.head)
    return `the log is in epoch ${log.epoch} at ${log.head} and was in epoch ${epoch} at ${head}`
  return null
}
