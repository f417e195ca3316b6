import { open } from 'node:fs/promises'
import { type LoadedConfig, type LoadOptions, loadConfig, SECRET_SETTINGS } from './config.ts'

/** No secret is larger. */
const MAX_BYTES = 64 * 1024

type Env = Readonly<Record<string, string | undefined>>

/**
 * Loads the configuration from the environment, with secrets from files: `<name>_FILE` for `<name>`. Files are safer, since
 * other processes of the same user can read the environment of this process as long as it lives.
 */
export async function loadSettings(env: Env, timeouts: LoadOptions['timeouts'] = []): Promise<LoadedConfig> {
  const problems: string[] = []
  const read: Record<string, string> = {}
  for (const name of SECRET_SETTINGS) {
    const file = env[fileSetting(name)]?.trim()
    if (!file) continue
    const text = await readSecret(file)
    if (env[name]?.trim()) problems.push(`${fileSetting(name)}: ${name} is set too: set one of them`)
    else if ('problem' in text) problems.push(`${fileSetting(name)}: ${text.problem}`)
    else read[name] = text.secret
  }
  const loaded = loadConfig(
    { ...env, ...read },
    {
      nameOf: (name) => (name in read ? fileSetting(name) : name),
      timeouts,
    },
  )
  const all = [...problems, ...(loaded.ok ? [] : loaded.problems)]
  return all.length > 0 ? { ok: false, problems: all } : loaded
}

const fileSetting = (name: string): string => `${name}_FILE`

async function readSecret(path: string): Promise<{ readonly secret: string } | { readonly problem: string }> {
  try {
    await using file = await open(path)
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(MAX_BYTES + 1) })
    if (bytesRead > MAX_BYTES) return { problem: `its file is larger than ${MAX_BYTES / 1024} KiB` }
    const secret = buffer.toString('utf8', 0, bytesRead).trim()
    return secret === '' ? { problem: 'its file is empty' } : { secret }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return { problem: `its file cannot be read (${code})` }
  }
}
