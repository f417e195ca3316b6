/**
 * Decides which programs work with which databases. Pure.
 *
 * A schema is named after its last migration. A migration that only adds keeps earlier programs working; one that
 * removes something states the first migration whose programs work without it.
 */

export interface SchemaRange {
  /** The database's last migration; null: it has none. */
  readonly newest: string | null
  /** The first migration that a program has to know; null: the database is older than that statement. */
  readonly oldest: string | null
}
interface AppliedSchema extends Pick<SchemaRange, 'oldest'> {
  readonly applied: readonly string[]
}

/** Why a program must not work with the database, in a sentence that says what to do; null: it may. */
export function judgeRange(known: readonly string[], { newest, oldest }: SchemaRange): string | null {
  if (oldest === null || known.includes(oldest)) return null
  return `a newer version has changed the database's schema to ${newest}, which works with programs from the schema ${oldest} on, and this one has ${known.at(-1)}: start a newer version, or restore the backup from before that upgrade`
}

/**
 * The same before a start, of a program that migrates what the database lacks.
 * @param known the program's migrations
 */
export function judgeStart(known: readonly string[], { applied, oldest }: AppliedSchema): string | null {
  const unknown = applied.filter((name) => !known.includes(name))
  const newest = unknown.at(-1)
  if (newest === undefined) return null
  const why = `the database has the migration ${newest}, which this version does not know`
  if (oldest === null) return `${why}: it was used by a newer version. Start that one`
  const missing = known.find((name) => !applied.includes(name))
  // One of another line of versions, which nobody has tried the two changes of together.
  if (missing !== undefined)
    return `${why}, and lacks ${missing}, which this version would add: it was used by a version that is neither older nor newer. Start that one, or a newer version that has both`
  return judgeRange(known, { newest, oldest })
}
