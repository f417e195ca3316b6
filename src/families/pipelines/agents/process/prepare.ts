import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { untilSettled } from '../../../../core/until-settled.ts'
import { StartProblem, type Workload } from '../runtime/runtime.ts'
import { workloadEnv } from '../runtime/workload-env.ts'
import { findCommand } from './find-command.ts'
import type { Invocation, Sandbox } from './sandbox.ts'
import type { WorkloadFolder } from './workload-folder.ts'
import { writeFiles } from './write-files.ts'

export interface Prepared extends Invocation {
  readonly workingFolder: string
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
  if (argv.some((arg) => arg.includes('\0'))) throw new StartProblem('The command must not hold a NUL.')
  const { eventFile, secretsFolder } = folder
  const env = workloadEnv(ownEnv, workload, { url, workingFolder, eventFile, secretsFolder })
  const { token, secrets } = workload
  const [path] = await untilSettled([
    mkdir(workingFolder, PRIVATE_FOLDER).then(async () => {
      await writeFiles(workingFolder, workload.files)
      return await findCommand(argv[0] ?? '', env.PATH ?? '', workingFolder)
    }),
    mkdir(secretsFolder, PRIVATE_FOLDER).then(() =>
      untilSettled(
        Object.entries(secrets).map(([name, value]) => writeFile(join(secretsFolder, name), value, PRIVATE_FILE)),
      ),
    ),
    writeFile(eventFile, JSON.stringify(workload.event), PRIVATE_FILE),
    folder.writeMasked([...Object.values(secrets), ...(token === null ? [] : [token])]),
  ])
  const prepared = { workingFolder, command: [path, ...argv.slice(1)], env, input: null }
  if (!sandbox) return prepared
  return { workingFolder, ...(await sandbox.enclose({ ...prepared, folder, hasToken: token !== null })) }
}

const missingCommand = ({ image }: Workload): string =>
  image === null
    ? 'It has no command to run.'
    : 'It has an image and no command: the process runtime runs commands of this machine, not images.'
