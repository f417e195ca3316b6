import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeTree } from '../../../../agents/files/remove-tree.ts'
import type { CloneOptions } from '../../../../agents/git/clone-options.ts'
import { cloneRepository } from '../runtime/clone.ts'
import { StartProblem, type Workload } from '../runtime/runtime.ts'
import { COOKIE, workloadEnv } from '../runtime/workload-env.ts'
import { partsOf } from '../runtime/workload-files.ts'
import { writeTaken } from './artifact-files.ts'
import { findCommand } from './find-command.ts'
import type { Sandbox } from './sandbox.ts'
import { hostOfService, launchedServices, writePlan } from './services.ts'
import type { Invocation } from './supervisor-messages.ts'
import type { WorkloadFolder } from './workload-folder.ts'
import { writeFiles } from './write-files.ts'

export interface Prepared extends Invocation {
  readonly workingFolder: string
  /** The commit that was cloned; null: there is no clone. */
  readonly commit: string | null
}
export interface PrepareOptions {
  readonly folder: WorkloadFolder
  /** The workload's own folder, or a worker's workspace. */
  readonly workingFolder: string
  readonly url: string
  /** Environment of the runtime; an allow-listed part is passed on. */
  readonly ownEnv: Readonly<Record<string, string | undefined>>
  /** Null: the workload is trusted. */
  readonly sandbox: Sandbox | null
  readonly clone: CloneOptions
  readonly signal: AbortSignal
}

const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const
const PRIVATE_FILE = { mode: 0o600 } as const

/**
 * Writes all files that a workload finds when it starts. Starts no process.
 * @throws StartProblem
 */
export async function prepare(workload: Workload, options: PrepareOptions): Promise<Prepared> {
  const { folder, workingFolder, sandbox } = options
  const { url } = sandbox ?? options
  const ownEnv = sandbox?.env(options.ownEnv) ?? options.ownEnv
  const argv = [...workload.command, ...workload.args]
  if (workload.command.length === 0) throw new StartProblem(missingCommand(workload))
  const { eventFile, secretsFolder } = folder
  const env = workloadEnv(ownEnv, workload, { url, workingFolder, eventFile, secretsFolder, hostOf: hostOfService })
  const { token, secrets } = workload
  const commit = await clone(workload, options)
  folder.writeMasked([...Object.values(secrets), ...(token === null ? [] : [token])])
  writeFileSync(eventFile, JSON.stringify(workload.event), PRIVATE_FILE)
  mkdirSync(secretsFolder, PRIVATE_FOLDER)
  for (const [name, value] of Object.entries(secrets)) writeFileSync(join(secretsFolder, name), value, PRIVATE_FILE)
  mkdirSync(workingFolder, PRIVATE_FOLDER)
  for (const take of workload.takes ?? []) await writeTaken(workingFolder, take)
  await writeFiles(workingFolder, workload, secretsFolder)
  const isExecutable = sandbox?.shows(workingFolder)
  const path = findCommand(argv[0] ?? '', { path: env.PATH ?? '', workingFolder, isExecutable })
  const services = await launchedServices(workload, { ownEnv, workingFolder, secretsFolder, isExecutable })
  const direct = { workingFolder, command: [path, ...argv.slice(1)], env, input: null }
  const launches = services.length > 0
  if (launches) writePlan(folder, { workload: direct, services })
  const prepared = launches ? { ...direct, ...launched(folder, env), hasNotes: true } : direct
  if (!sandbox) return { ...prepared, commit }
  return {
    workingFolder,
    commit,
    ...(await sandbox.enclose({ ...prepared, folder, hasToken: token !== null, launches })),
  }
}

const LAUNCHER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './service-launcher.ts' : './service-launcher.js', import.meta.url),
)
/** The launcher instead of the workload, whose own variables could change what a launcher does. */
const launched = (folder: WorkloadFolder, env: Readonly<Record<string, string>>) => ({
  command: [process.execPath, LAUNCHER, folder.planFile, '3'],
  env: { [COOKIE]: env[COOKIE] ?? '' },
})

/** The commit of the repository that a workload wants in its folder, which is a new one; null: it wants none. */
async function clone(
  { clone }: Workload,
  { folder, workingFolder, clone: options, signal }: PrepareOptions,
): Promise<string | null> {
  if (!clone) return null
  const made = folder.file('clone')
  const commit = await cloneRepository(clone, { folder: made, scratch: folder.file('git'), options, signal })
  const place = join(workingFolder, ...(clone.path === null ? [] : partsOf(clone.path)))
  // A start that broke off may have left another one.
  await removeTree(workingFolder)
  mkdirSync(dirname(place), PRIVATE_FOLDER)
  renameSync(made, place)
  return commit
}

const missingCommand = ({ image }: Workload): string =>
  image === null
    ? 'It has no command to run.'
    : 'It has an image and no command: the process runtime runs commands of this machine, not images.'
