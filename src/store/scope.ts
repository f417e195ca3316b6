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

const codeOf = (error: unknown): string => (error instanceof DatabaseError && error.code) || ''
/** The project has another id by now: division by zero, which no other statement of ours makes use of. */
export const isReplaced = (error: unknown): boolean => codeOf(error) === '22012'
/** A constraint was broken, e.g. by a name that is taken, or what came after that has failed with it: nothing is written. */
export const isTakenBack = (error: unknown): boolean => /^(23...|25P02)$/.test(codeOf(error))
