import { chmod, mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { lockStateFolder } from '../../../../agents/files/lock-state-folder.ts'
import { readPlaceName } from '../runtime/place-name.ts'
import { isFileName } from '../runtime/workload-files.ts'
import { WorkloadFolder } from './workload-folder.ts'

/** The folder of a process runtime, private and locked by it. Disposing it releases the lock and keeps the files. */
export interface StateFolder extends AsyncDisposable {
  /** Generated once per folder. */
  readonly instance: string
  readonly path: string
  /** The folder that workloads in a sandbox share. */
  readonly sandbox: string
  ids(): Promise<readonly string[]>
  workload(id: string): WorkloadFolder
  /** Path of a worker's workspace. */
  workspace(workerId: string): string
}

/** @throws FolderInUse, UnsafeFolder */
export async function openStateFolder(path: string): Promise<StateFolder> {
  const root = resolve(path)
  const workloads = join(root, 'workloads')
  const workspaces = join(root, 'workspaces')
  for (const folder of [root, workloads, workspaces]) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
  }
  await using opening = new AsyncDisposableStack()
  opening.use(await lockStateFolder(root))
  const instance = await readPlaceName('process', join(root, 'instance'))
  const opened = opening.move()
  return {
    instance,
    path: root,
    sandbox: join(root, 'sandbox'),
    ids: async () => (await readdir(workloads)).filter(isFileName),
    workload: (id) => new WorkloadFolder(join(workloads, id)),
    workspace: (workerId) => join(workspaces, workerId),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
