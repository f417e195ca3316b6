import type { ChildProcess } from 'node:child_process'
import { pause } from '../client/pause.ts'

/** The first descriptor after standard input, output, error and the channel. */
export const LIFELINE_FD = 4
/**
 * Names the descriptor that closes when the supervisor of this process is gone, or wants it to end. A successor inherits
 * it, since it outlives the process that started it.
 */
export const LIFELINE = 'PHASELINE_LIFELINE'

export interface Lifeline {
  /** Resolves when all processes that inherited it have ended, or after `waitMs`. */
  cut(waitMs: number): Promise<void>
}

/** Adds the child's lifeline to `open`, until the last process that inherited it has ended. */
export function openLifeline(child: ChildProcess, open: Set<Lifeline>): void {
  // They all inherit the same output, which closes with the last of them.
  const ended = new Promise<void>((resolve) => child.stdout?.once('close', resolve))
  const lifeline: Lifeline = {
    async cut(waitMs) {
      child.stdio[LIFELINE_FD]?.destroy()
      const late = new AbortController()
      await Promise.race([ended, pause(waitMs, late.signal)])
      late.abort()
    },
  }
  open.add(lifeline)
  void ended.then(() => open.delete(lifeline))
}
