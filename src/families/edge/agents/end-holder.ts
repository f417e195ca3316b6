import { pause } from '../../../client/pause.ts'
import { codeOf } from '../../../process/error-code.ts'
import { FolderInUse } from '../../../process/folder-lock.ts'
import { isAlive, type ProcessId } from '../../../process/identity.ts'
import type { CloudletFolder } from './cloudlet-folder.ts'

const POLL_MS = 20
/** From SIGTERM to SIGKILL. */
const GRACE_MS = 10_000

/**
 * Ends the process that has locked the folder, then locks it.
 * @throws the signal's reason when it aborts first
 */
export async function endHolder(folder: CloudletFolder, signal: AbortSignal): Promise<AsyncDisposable> {
  for (;;) {
    try {
      return await folder.lock()
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error
      await endProcess(error.holder, signal)
    }
  }
}

async function endProcess(holder: ProcessId, signal: AbortSignal): Promise<void> {
  const killAt = performance.now() + GRACE_MS
  for (let name: NodeJS.Signals | 0 = 'SIGTERM'; await isAlive(holder); ) {
    signal.throwIfAborted()
    send(holder.pid, name)
    name = performance.now() > killAt ? 'SIGKILL' : 0
    await pause(POLL_MS, signal)
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It has ended meanwhile.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
