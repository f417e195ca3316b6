import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { GroupState } from '../../client/gadget/run-gadget.ts'
import type { CallState } from './call-name.ts'

/** Kills the process groups of gadgets when this process cannot any more. */
export interface GroupGuard {
  onGroup(group: number, state: GroupState): void
  /** Between `begins` and `begun` a process may exist whose group is not known: the guard searches for it. */
  onCall(call: string, state: CallState): void
}

const BEAT_MS = 1_000
const RESTART_MS = 50
/**
 * Milliseconds from the last heartbeat to SIGKILL. Leases last 15 s and are renewed every 2 s: when the lease of a
 * suspended process expires, its gadgets are dead.
 */
const SILENCE_MS = 8_000

/**
 * A small process beside this one, started with the first gadget. It ends all gadgets when this process and its
 * supervisor end, in whatever way, or are suspended: a gadget's job may be undone as soon as the lease has expired.
 */
export function groupGuard(silenceMs = SILENCE_MS): GroupGuard {
  const groups = new Set<number>()
  const calls = new Set<string>()
  let guard: ChildProcess | null = null
  const send = (text: string): void => void guard?.stdin?.write(`${text}\n`)
  const open = (): void => {
    guard = startGuard(silenceMs)
    guard.once('exit', () => {
      guard = null
      setTimeout(() => {
        if (guard === null && groups.size + calls.size > 0) open()
      }, RESTART_MS).unref()
    })
    for (const group of groups) send(`+${group}`)
    for (const call of calls) send(`?${call}`)
  }
  const sendOrOpen = (line: string): void => {
    if (guard === null) open()
    else send(line)
  }
  setInterval(() => send('.'), Math.min(BEAT_MS, silenceMs / 4)).unref()
  return {
    onGroup(group, state) {
      if (state === 'started') groups.add(group)
      else groups.delete(group)
      sendOrOpen(`${state === 'started' ? '+' : '-'}${group}`)
    },
    onCall(call, state) {
      if (state === 'begins') calls.add(call)
      else calls.delete(call)
      sendOrOpen(`${state === 'begins' ? '?' : '!'}${call}`)
    },
  }
}

function startGuard(silenceMs: number): ChildProcess {
  // The same file as source and as built.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const main = fileURLToPath(new URL(`./guard-main.${extension}`, import.meta.url))
  const guard = spawn(process.execPath, [main, String(silenceMs)], {
    // A session of its own: a signal from the terminal does not reach it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  })
  // A guard that ends is restarted, and the next one gets all groups and calls.
  guard.stdin?.on('error', () => undefined)
  guard.on('error', () => undefined)
  guard.unref()
  return guard
}
