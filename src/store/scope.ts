import { DatabaseError } from 'pg'
import { SET_MS } from '../core/clock-offset.ts'
import type { Client } from './client.ts'
import { bigint, integer, nullable, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { timeNow } from './time.ts'

export interface LockedScope {
  readonly projectId: string
  readonly hasInvariants: boolean
  readonly at: Date
}
const lock = (name: string, suffix: string) =>
  statement({
    name,
    text: `select id as "projectId", has_invariants as "hasInvariants", ${timeNow('$2')} as at from project where name = $1 for no key update ${suffix}`,
    params: [text, nullable(timestamptz)],
    row: { projectId: table.project.id, hasInvariants: table.project.hasInvariants, at: timestamptz },
  })
const LOCK_SCOPE = lock('lock-scope', '')
const LOCK_SCOPE_UNLESS_LOCKED = lock('lock-scope-skip', 'skip locked')
const SCOPE_EXISTS = statement({
  name: 'scope-exists',
  text: 'select 1 from project where name = $1',
  params: [text],
  row: { '?column?': integer },
})

/**
 * Serialises the specs of a project's roots. Taken first, and by mutations only. Null: there is no such project.
 * @param skipLocked 'locked' instead of waiting for another transaction
 * @param time null: the database's own
 */
export async function lockScope(
  client: Client,
  project: string,
  { skipLocked, time }: { readonly skipLocked: boolean; readonly time: Date | null },
): Promise<LockedScope | null | 'locked'> {
  const { rows } = await (skipLocked ? LOCK_SCOPE_UNLESS_LOCKED : LOCK_SCOPE).query(client, [project, time])
  const [locked] = rows
  if (locked || !skipLocked) return locked ?? null
  const { rowCount } = await SCOPE_EXISTS.query(client, [project])
  return rowCount === 0 ? null : 'locked'
}

const lockKnown = (name: string, suffix: string) =>
  statement({
    name,
    text: `select 1 / count(*) from (select from project where name = $1 and id = $2 and not has_invariants
      and ($3::timestamptz is null or abs(extract(epoch from statement_timestamp() - $3)) * 1000 < ${SET_MS}) for no key update ${suffix}) p`,
    params: [text, uuid, nullable(timestamptz)],
    row: { '?column?': bigint },
  })
const LOCK_KNOWN_SCOPE = lockKnown('lock-known-scope', '')
const LOCK_KNOWN_SCOPE_UNLESS_LOCKED = lockKnown('lock-known-scope-skip', 'skip locked')

/**
 * Locks a project whose id is known, with the time that this process assumes. The statement fails, and its transaction
 * with it, if the name has another id, if the project has an invariant, if the time is wrong, or if the row was skipped.
 * @param now null: the time is given, and right
 */
export async function lockKnownScope(
  client: Client,
  {
    project,
    id,
    now,
    skipLocked,
  }: { readonly project: string; readonly id: string; readonly now: Date | null; readonly skipLocked: boolean },
): Promise<void> {
  await (skipLocked ? LOCK_KNOWN_SCOPE_UNLESS_LOCKED : LOCK_KNOWN_SCOPE).query(client, [project, id, now])
}

const codeOf = (error: unknown): string => (error instanceof DatabaseError && error.code) || ''
/** The project's id or the time has changed, it has got an invariant, or its row was skipped: LOCK_KNOWN_SCOPE divides by zero, as no other statement does. */
export const isScopeMismatch = (error: unknown): boolean => codeOf(error) === '22012'
/** A constraint is violated, e.g. by a taken name; or the statement came after the one that violates it. */
export const isConstraintViolation = (error: unknown): boolean => /^(23...|25P02)$/.test(codeOf(error))
