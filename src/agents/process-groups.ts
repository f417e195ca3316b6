import type { ChildProcess } from 'node:child_process'

/** Tracks the process groups of a child's gadgets: a killed child leaves them running, and no second run may start beside one. */
export function trackGroups(child: ChildProcess) {
  const groups = new Set<number>()
  let hasEnded = false
  child.on('message', (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('group' in message) || !('state' in message)) return
    const { group, state } = message
    // A signal to 0 or 1 would reach this process's own group, or every process.
    if (typeof group !== 'number' || !Number.isInteger(group) || group < 2) return
    if (state !== 'started') groups.delete(group)
    // The child's last message may arrive after its end.
    else if (hasEnded) killGroup(group)
    else groups.add(group)
  })
  return {
    killAll(): void {
      hasEnded = true
      for (const group of groups) killGroup(group)
    },
  }
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
