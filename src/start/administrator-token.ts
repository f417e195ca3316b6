import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { CHOSEN_TOKEN_RULE, isChosenToken } from '../core/bearer.ts'
import { Secret } from '../core/secret.ts'
import { StartProblem } from './start-problem.ts'

/**
 * The configured token, or one that is generated once into the embedded data folder, readable for its owner only. Null:
 * the database is not embedded, and this process was given no token.
 * @throws StartProblem when the file in the data folder holds what no request can carry
 */
export async function administratorToken({
  token,
  databaseUrl,
  dataDir,
}: Pick<Config, 'token' | 'databaseUrl' | 'dataDir'>): Promise<Secret | null> {
  if (token || databaseUrl) return token ?? null
  const file = join(dataDir, 'token')
  const known = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (known && !isChosenToken(known)) throw new StartProblem(`${file}: the token ${CHOSEN_TOKEN_RULE}`)
  if (known) return new Secret(known)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const generated = randomBytes(24).toString('base64url')
  await writeFile(file, `${generated}\n`, { mode: 0o600 })
  return new Secret(generated)
}
