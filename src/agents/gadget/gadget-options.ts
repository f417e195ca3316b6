import { delimiter } from 'node:path'
import type { GadgetRun, GroupState } from '../../client/gadget/run-gadget.ts'
import type { AgentContext } from '../program.ts'
import type { CallState } from './call-name.ts'
import { groupGuard } from './group-guard.ts'

/** The process settings of programs that call gadgets. */
export interface GadgetOptions {
  /** The folders with gadgets. */
  readonly folders: readonly string[]
  /** The environment of which gadgets get an allow-listed part. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds from SIGINT to SIGKILL. */
  readonly graceMs: number
  /** Called with each gadget's process group, so that another process can kill it when this one cannot any more. */
  readonly onGroup?: GadgetRun['onGroup']
  /** Called before and after each start, since this process may be killed in between. */
  readonly onCall?: ((call: string, state: CallState) => void) | undefined
}

const GRACE_MS = 5_000

export function gadgetOptions({ env }: Pick<AgentContext, 'env'>): GadgetOptions {
  const folders = (env.PHASELINE_GADGETS ?? '').split(delimiter).filter((folder) => folder !== '')
  const guard = groupGuard()
  const onGroup = (group: number, state: GroupState): void => {
    guard.onGroup(group, state)
    sendToSupervisor(group, state)
  }
  return { folders, env: { ...env }, graceMs: GRACE_MS, onGroup, onCall: guard.onCall }
}

/** The supervisor kills the groups that are left when this process is killed. */
function sendToSupervisor(group: number, state: GroupState): void {
  if (process.connected) process.send?.({ group, state })
}
