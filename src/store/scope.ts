import { DatabaseError } from 'pg'
import type { Client } from './client.ts'

/** Serialises the specs of a project's roots. Taken first, and by mutations only. Null: there is no such project. */
export async function lockScope(client: Client, project: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>({
    name: 'lock-scope',
    text: 'select id from project where name = $1 for no key update',
    values: [project],
  })
  return rows[0]?.id ?? null
}

/** The same where the id is known: if it is another one by now the statement fails, and its transaction with it. */
export async function lockKnownScope(client: Client, project: string, id: string): Promise<void> {
  await client.query({
    name: 'lock-known-scope',
    text: 'select 1 / count(*) from (select from project where name = $1 and id = $2 for no key update) p',
    values: [project, id],
  })
}

/** Division by zero: another id. Broken constraints: names that are taken. What comes after either has failed with it. */
const REFUSED = /^(22012|23...|25P02)$/
/** The database has found that what a transaction took for granted is not so: nothing of it is written. */
export const isTakenBack = (error: unknown): boolean => error instanceof DatabaseError && REFUSED.test(error.code ?? '')
