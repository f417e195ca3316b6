import { closeSync, readdirSync, readFileSync } from 'node:fs'
import { onLinux } from './identity.ts'

/**
 * Closes the descriptors that this process has inherited, but for the standard streams and `kept`: whoever started the first process
 * may have left some open, such as a shell its files, and children would inherit them in turn. Descriptors that Node
 * opens close by themselves when a child is started. Linux only.
 */
export function closeInherited(kept: readonly number[] = []): void {
  if (!onLinux) return
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd > STANDARD_ERROR && !kept.includes(fd) && isInherited(fd)) closeSync(fd)
  }
}

const STANDARD_ERROR = 2
const CLOSES_ON_EXEC = 0o2000000

function isInherited(fd: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0
  } catch {
    // It was the one that has read the folder.
    return false
  }
}
