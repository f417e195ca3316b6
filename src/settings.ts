import { type LoadedConfig, type LoadOptions, loadConfig, SECRET_SETTINGS, SECRET_VARIABLES } from './config.ts'
import { type ReadSecret, readSecretFile, runSecretCommand } from './secret-sources.ts'

type Env = Readonly<Record<string, string | undefined>>

/** An option of the command line, which goes before the variable of the same setting. */
export interface GivenOption {
  /** e.g. `--port` */
  readonly name: string
  readonly setting: string
  /** Absent or blank: it was not given. */
  readonly value: string | undefined
}

/**
 * Loads the configuration from the environment, with secrets from files and commands: `<name>_FILE` or `<name>_COMMAND` for
 * `<name>`. Both are safer, since other processes of the same user can read the environment of this process as long as it
 * lives.
 */
export async function loadSettings(
  env: Env,
  timeouts: LoadOptions['timeouts'] = [],
  options: readonly GivenOption[] = [],
): Promise<LoadedConfig> {
  const problems: string[] = []
  const given = options.filter(({ value }) => value?.trim())
  const values: Record<string, string> = Object.fromEntries(given.map(({ setting, value = '' }) => [setting, value]))
  const settings: Record<string, string> = Object.fromEntries(given.map(({ setting, name }) => [setting, name]))
  for (const name of SECRET_SETTINGS) {
    const sources = sourcesOf(name, env)
    const [source, other] = [...sources, ...(env[name]?.trim() ? [{ setting: name }] : [])]
    if (!source || !('read' in source)) continue
    const read = other ? { problem: `${other.setting} is set too: set one of them` } : await source.read()
    if ('problem' in read) problems.push(`${source.setting}: ${read.problem}`)
    else Object.assign(values, { [name]: read.secret })
    settings[name] = source.setting
  }
  const loaded = loadConfig({ ...env, ...values }, { nameOf: (name) => settings[name] ?? name, timeouts })
  const all = [...problems, ...(loaded.ok ? [] : loaded.problems)]
  if (!loaded.ok || all.length > 0) return { ok: false, problems: all }
  return {
    ok: true,
    config: {
      ...loaded.config,
      readDatabaseUrl: readerOf('DATABASE_URL', env),
      readReplicaUrl: readerOf('DATABASE_READ_URL', env),
    },
  }
}

/** Logins of databases are often valid for minutes, or changed under a process that runs. */
function readerOf(name: string, env: Env): (() => Promise<string | null>) | null {
  const [source] = sourcesOf(name, env)
  if (!source) return null
  return async () => {
    const read = await source.read()
    return 'secret' in read ? read.secret : null
  }
}

interface Source {
  readonly setting: string
  read(): Promise<ReadSecret>
}

/** The sources of a secret besides its own variable. */
function sourcesOf(name: string, env: Env): readonly Source[] {
  const file = env[`${name}_FILE`]?.trim()
  const command = env[`${name}_COMMAND`]?.trim()
  return [
    ...(file ? [{ setting: `${name}_FILE`, read: () => readSecretFile(file) }] : []),
    ...(command ? [{ setting: `${name}_COMMAND`, read: () => runSecretCommand(command, withoutSecrets(env)) }] : []),
  ]
}

/** A command needs the environment, such as the address of the vault, but none of our secrets. */
const withoutSecrets = (env: Env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET_VARIABLES.includes(name)))
