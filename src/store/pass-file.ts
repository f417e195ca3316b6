import { readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { DatabaseUnavailable } from '../core/database-unavailable.ts'

/** The server, database and user of a login. */
interface Login {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

const FIELDS = 4
/** No such file is larger. */
const MAX_BYTES = 64 * 1024
/** Bits of others than the owner. */
const OTHERS = 0o077

/**
 * The password of a file as libpq has it (`host:port:database:user:password`), which is read for each connection, so that it
 * can change. Null: it has none.
 * @param named `passfile` of the URL; null: PGPASSFILE, or the usual one
 */
export async function passwordOfFile(named: string | null, login: Login): Promise<string | null> {
  const path = named ?? process.env.PGPASSFILE ?? join(homedir(), '.pgpass')
  const found = await stat(path).catch(() => null)
  if (!found?.isFile()) return null
  if ((found.mode & OTHERS) !== 0)
    throw new DatabaseUnavailable('the password file can be read by others than its owner: set its mode to 0600')
  if (found.size > MAX_BYTES) throw new DatabaseUnavailable('the password file is larger than 64 KiB')
  return passwordIn(await readFile(path, 'utf8'), login)
}

export function passwordIn(text: string, { host, port, database, user }: Login): string | null {
  // A socket's folder stands there as localhost.
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = fieldsOf(line)
    if (fields.length <= FIELDS) continue
    if (wanted.every((value, i) => fields[i] === '*' || fields[i] === value)) return fields[FIELDS] ?? null
  }
  return null
}

/** Colons and backslashes in fields have a backslash before them. */
const fieldsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:^|:)((?:\\.|[^\\:])*)/g)].map(([, field = '']) => field.replace(/\\(.)/g, '$1'))
