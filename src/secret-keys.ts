import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, secretKeysOf } from './config.ts'

/** The keys with which secrets are sealed cannot be had. */
export class SecretKeyProblem extends Error {
  override name = 'SecretKeyProblem'
}

const KEY_BYTES = 32

/**
 * Those of the environment first. An embedded server has a file of them in its data folder, for nobody else to read: one
 * a line, the first one generated when there is none. It must hold the data folder. None: nothing can be sealed.
 */
export async function loadSecretKeys({
  secretKeys,
  databaseUrl,
  dataDir,
}: Pick<Config, 'secretKeys' | 'databaseUrl' | 'dataDir'>): Promise<readonly Uint8Array[]> {
  if (databaseUrl) return secretKeys
  const file = join(dataDir, 'secret-key')
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text !== null) {
    const kept = secretKeysOf(text)
    // It is never written again: what it sealed could not be opened any more.
    if (!kept) throw new SecretKeyProblem(`${file} must hold 32 bytes in base64, one key a line.`)
    return [...secretKeys, ...kept]
  }
  if (secretKeys.length > 0) return secretKeys
  const key = randomBytes(KEY_BYTES)
  // It must be there, whole, before anything is sealed with it.
  await writeFile(`${file}.new`, `${key.toString('base64')}\n`, { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
  return [key]
}
