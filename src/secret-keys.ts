import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, type SecretKey, secretKeysOf } from './config.ts'
import { Secret } from './core/secret.ts'

/** The keys that seal secrets are unusable. */
export class SecretKeyProblem extends Error {
  override name = 'SecretKeyProblem'
}

const KEY_BYTES = 32

type KeySettings = Pick<Config, 'secretKeys' | 'databaseUrl' | 'dataDir'>

const fileOf = ({ dataDir }: KeySettings): string => join(dataDir, 'secret-key')

/** The keys that are there, those of the environment first. */
export async function readSecretKeys(settings: KeySettings): Promise<readonly SecretKey[]> {
  const { secretKeys, databaseUrl } = settings
  if (databaseUrl) return secretKeys
  const file = fileOf(settings)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return secretKeys
  const saved = secretKeysOf(text)
  // The file is never overwritten, since its key alone opens the sealed secrets.
  if (!saved)
    throw new SecretKeyProblem(`${file} must contain keys of 32 bytes in base64, one a line. Restore it from a backup.`)
  return [...secretKeys, ...saved]
}

/**
 * Loads the keys that seal secrets, those of the environment first. An embedded server keeps more in a private file of its
 * data folder, one a line, and generates the first. The caller must hold the folder's lock. Empty: nothing can be sealed.
 */
export async function loadSecretKeys(settings: KeySettings): Promise<readonly SecretKey[]> {
  const present = await readSecretKeys(settings)
  if (settings.databaseUrl || present.length > 0) return present
  const file = fileOf(settings)
  const key = randomBytes(KEY_BYTES)
  // The complete file must exist before the key seals anything.
  await writeFile(`${file}.new`, `${key.toString('base64')}\n`, { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
  return [new Secret(key)]
}
