import { stat } from 'node:fs/promises'
import { DatabaseError } from 'pg'
import packageJson from '../../package.json' with { type: 'json' }
import { backUp } from '../backup/back-up.ts'
import { BackupProblem } from '../backup/backup-problem.ts'
import type { BackupDatabase } from '../backup/database.ts'
import type { Contents, Manifest } from '../backup/manifest.ts'
import { openFitting, type RestoreOptions, restore } from '../backup/restore.ts'
import type { Config } from '../config.ts'
import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import { problemOfSurroundings } from '../core/surroundings.ts'
import { type FamilyDefinition, timeoutsOf } from '../families/define-family.ts'
import { createLogger } from '../logger.ts'
import { FolderInUse } from '../process/folder-lock.ts'
import { UnsafeFolder } from '../process/own-folder.ts'
import { readSecretKeys, SecretKeyProblem } from '../secret-keys.ts'
import { loadSettings } from '../settings.ts'
import { shareEmbeddedPostgres } from '../store/embedded/index.ts'
import { knownMigrations } from '../store/migrate.ts'
import { createPool } from '../store/pool.ts'
import { keyIdOf } from '../store/sealing.ts'
import { probing } from '../store/server-client.ts'
import { DatabaseServers } from '../store/servers.ts'
import { MIGRATIONS_FOLDER } from './package-folder.ts'
import { serversOf } from './services.ts'

/** `phaseline backup` and `phaseline restore`: with the database of `phaseline serve`, from the same settings. */

interface Run {
  readonly file: string
  readonly env: BackupDatabase['env']
  readonly families: readonly FamilyDefinition[]
  readonly tools: string | undefined
  readonly signal: AbortSignal
}
export type RestoreRun = Run & Pick<RestoreOptions, 'replace' | 'whileInUse' | 'keepAutomation'>

/** The contents of a backup, and the keys that open it. */
export interface BackupSummary {
  readonly manifest: Manifest
  /** Keys of its secrets that are not among those of the settings. */
  readonly missingKeys: readonly string[]
}

/** @throws BackupProblem */
export async function runBackup({
  file,
  env,
  families,
  tools,
  signal,
}: Run): Promise<BackupSummary & { readonly bytes: number }> {
  try {
    const config = await readConfig(env, families)
    // An embedded database is not made to be backed up empty.
    if (!config.databaseUrl && !(await stat(config.dataDir).catch(() => null)))
      throw new BackupProblem(
        'INVALID_INPUT',
        `There is no data folder ${config.dataDir}: name it with PHASELINE_DATA, or the database with DATABASE_URL.`,
      )
    await using opened = await openDatabase(config, env, signal)
    const { version } = packageJson
    const { manifest, bytes } = await backUp(opened.database, { file, tools, version, signal })
    return { manifest, bytes, missingKeys: await missingKeys(config, manifest) }
  } catch (error) {
    explain(error, signal)
  }
}

/** @throws BackupProblem */
export async function runRestore({
  file,
  env,
  families,
  ...options
}: RestoreRun): Promise<BackupSummary & { readonly epoch: number; readonly isHeld: boolean }> {
  const { signal } = options
  try {
    const config = await readConfig(env, families)
    await using backup = await openFitting(file, await knownMigrations(MIGRATIONS_FOLDER))
    await using opened = await openDatabase(config, env, signal)
    const { manifest, epoch, isHeld } = await restore(opened.database, backup, options)
    return { manifest, epoch, isHeld, missingKeys: await missingKeys(config, manifest) }
  } catch (error) {
    explain(error, signal)
  }
}

async function readConfig(env: BackupDatabase['env'], families: readonly FamilyDefinition[]): Promise<Config> {
  const loaded = await loadSettings(env, timeoutsOf(families))
  if (loaded.ok) return loaded.config
  const problems = loaded.problems.map((problem) => `  ${problem}`).join('\n')
  throw new BackupProblem('INVALID_INPUT', `The settings are not valid:\n${problems}`)
}

interface Opened extends AsyncDisposable {
  readonly database: BackupDatabase
}
/** An embedded one is started if no server runs it, and ends with this process. */
async function openDatabase(config: Config, env: BackupDatabase['env'], signal: AbortSignal): Promise<Opened> {
  await using parts = new AsyncDisposableStack()
  const { databaseUrl, readDatabaseUrl, dataDir, deadlines } = config
  // Errors are reported in one sentence.
  const logger = createLogger('silent')
  const servers = databaseUrl
    ? serversOf(databaseUrl, readDatabaseUrl)
    : new DatabaseServers(parts.use(await shareEmbeddedPostgres({ dataDir, logger, signal })))
  const pool = parts.adopt(createPool(servers, { max: 1, logger, deadlines }), (one) => one.end())
  const connection = await servers.single(probing(servers, deadlines.connectTimeoutMs))
  const { passFile } = servers
  const toolEnv = passFile === null ? env : { ...env, PGPASSFILE: passFile }
  const all = parts.move()
  return { database: { connection, pool, env: toolEnv }, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

async function missingKeys(config: Config, { secretKeys }: Contents): Promise<readonly string[]> {
  const present = (await readSecretKeys(config)).map((key) => keyIdOf(key.reveal()))
  return secretKeys.map(({ keyId }) => keyId).filter((id) => !present.includes(id))
}

const NOT_ALLOWED = '42501'

/** Turns errors of the surroundings into a BackupProblem. Any other error is a defect and stays what it is. */
function explain(error: unknown, signal: AbortSignal): never {
  if (signal.aborted || error instanceof BackupProblem || !(error instanceof Error)) throw error
  const { message } = error
  if ([FolderInUse, UnsafeFolder, SecretKeyProblem].some((kind) => error instanceof kind))
    throw new BackupProblem('REFUSED', message, { cause: error })
  if (isDatabaseUnavailable(error))
    throw new BackupProblem('UNAVAILABLE', `The database cannot be reached: ${message}.`, { cause: error })
  if (error instanceof DatabaseError) {
    const reason = error.code === NOT_ALLOWED ? 'REFUSED' : 'UNAVAILABLE'
    throw new BackupProblem(reason, `Postgres refuses: ${message}.`, { cause: error })
  }
  const problem = problemOfSurroundings(error)
  if (problem !== null) throw new BackupProblem('UNAVAILABLE', problem, { cause: error })
  throw error
}
