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

/**
 * Loads the keys that seal secrets, those of the environment first. An embedded server keeps more in a private file of its
 * data folder, one a line, and generates the first. The caller must hold the folder's lock. Empty: nothing can be sealed.
 */
export async function loadSecretKeys({
  secretKeys,
  databaseUrl,
  dataDir,
}: Pick<Config, 'secretKeys' | 'databaseUrl' | 'dataDir'>): Promise<readonly SecretKey[]> {
  if (databaseUrl) return secretKeys
  const file = join(dataDir, 'secret-key')
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text !== null) {
    const saved = secretKeysOf(text)
    // The file is never overwritten, since its key alone opens the sealed secrets.
    if (!saved)
      throw new SecretKeyProblem(
        `${file} must contain keys of 32 bytes in base64, one a line. Restore it from a backup.`,
      )
    return [...secretKeys, ...saved]
  }
  if (secretKeys.length > 0) return secretKeys
  const key = randomBytes(KEY_BYTES)
  // The complete file must exist before the key seals anything.
  await writeFile(`${file}.new`, `${key.toString('base64')}\n`, { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
  return [new Secret(key)]
}
