import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { GroupState } from '../../client/gadget/run-gadget.ts'
import type { CallState } from './call-name.ts'

/** Ends the process groups of gadgets when this process cannot any more. */
export interface GroupGuard {
  tell(group: number, state: GroupState): void
  /** Between `begins` and `begun` there may be a process whose group was not told: it is looked for. */
  announce(call: string, state: CallState): void
}

const BEAT_MS = 1_000
const RESTART_MS = 50
/**
 * From the last sign of life to SIGKILL. Leases are renewed every two seconds for fifteen: nothing of a gadget is left
 * when the lease of a process that stands still ends.
 */
const SILENCE_MS = 8_000

/**
 * A small process beside this one, started with the first gadget. However this one ends, and its supervisor with it, or
 * if it stands still, no gadget goes on: its job may be undone as soon as the lease has ended.
 */
export function groupGuard(silenceMs = SILENCE_MS): GroupGuard {
  const groups = new Set<number>()
  const calls = new Set<string>()
  let guard: ChildProcess | null = null
  const say = (text: string): void => void guard?.stdin?.write(`${text}\n`)
  const open = (): void => {
    guard = startGuard(silenceMs)
    guard.once('exit', () => {
      guard = null
      setTimeout(() => {
        if (guard === null && groups.size + calls.size > 0) open()
      }, RESTART_MS).unref()
    })
    for (const group of groups) say(`+${group}`)
    for (const call of calls) say(`?${call}`)
  }
  const pass = (line: string): void => {
    if (guard === null) open()
    else say(line)
  }
  setInterval(() => say('.'), Math.min(BEAT_MS, silenceMs / 4)).unref()
  return {
    tell(group, state) {
      if (state === 'started') groups.add(group)
      else groups.delete(group)
      pass(`${state === 'started' ? '+' : '-'}${group}`)
    },
    announce(call, state) {
      if (state === 'begins') calls.add(call)
      else calls.delete(call)
      pass(`${state === 'begins' ? '?' : '!'}${call}`)
    },
  }
}

function startGuard(silenceMs: number): ChildProcess {
  // The same file as source and as built.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const main = fileURLToPath(new URL(`./guard-main.${extension}`, import.meta.url))
  const guard = spawn(process.execPath, [main, String(silenceMs)], {
    // A session of its own: what ends this process in a terminal leaves it alone.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  })
  // One that ended is started again; what could not be told to it is told to the next.
  guard.stdin?.on('error', () => undefined)
  guard.on('error', () => undefined)
  guard.unref()
  return guard
}
