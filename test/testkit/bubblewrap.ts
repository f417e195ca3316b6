import { tmpdir } from 'node:os'
import {
  type IsolationOptions,
  NotIsolated,
  requireBubblewrap,
} from '../../src/families/pipelines/agents/process/bubblewrap.ts'

export const ISOLATED: IsolationOptions = { network: 'api', folders: [] }

/** False where workloads cannot be isolated; tests of that are then left out, and a line says so. */
export async function canIsolate(): Promise<boolean> {
  try {
    await requireBubblewrap(ISOLATED, tmpdir())
    return true
  } catch (error) {
    if (!(error instanceof NotIsolated)) throw error
    console.warn(
      `Tests of isolated workloads are left out: ${error.message}. Install it: sudo apt-get install -y bubblewrap`,
    )
    return false
  }
}
