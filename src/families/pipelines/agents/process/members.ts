import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { pause } from '../../../../client/pause.ts'
import { onLinux, type Stat, statOf } from '../../../../process/identity.ts'
import { COOKIE } from '../runtime/workload-env.ts'

const MARK = `${COOKIE}=`
/** Processes inspected in one turn of the event loop. */
const AT_ONCE = 100
/** Milliseconds from one scan to the next: many workloads that end at the same time share one. */
const SPACING_MS = 40

type Found = ReadonlyMap<string, readonly Stat[]>

/**
 * Finds the processes of workloads by the variable that they inherit, whatever group or session they have moved to. Linux
 * only: elsewhere it finds none. One scan answers all calls that came before it began.
 */
export class Members {
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<Found> | null = null
  #scannedAt = 0

  /** Living processes of this workload. */
  async of(id: string): Promise<readonly Stat[]> {
    if (!onLinux) return []
    this.#next ??= this.#begin()
    return (await this.#next).get(id) ?? []
  }

  #begin(): Promise<Found> {
    const scan = this.#running.then(async () => {
      await pause(Math.max(0, this.#scannedAt + SPACING_MS - performance.now()))
      this.#scannedAt = performance.now()
      this.#next = null
      return scanAll()
    })
    this.#running = scan.catch(() => {})
    return scan
  }
}

async function scanAll(): Promise<Found> {
  const found = new Map<string, Stat[]>()
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  for (const [i, name] of pids.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await turn()
    const pid = Number(name)
    const id = cookieOf(pid)
    const stat = id === null || pid === process.pid ? null : statOf(pid)
    if (id === null || !stat || stat.ended) continue
    found.set(id, [...(found.get(id) ?? []), stat])
  }
  return found
}

/** Null: the process has no cookie, has ended, or belongs to another user. */
function cookieOf(pid: number): string | null {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`)
    if (!environment.includes(MARK)) return null
    const entry = environment
      .toString('latin1')
      .split('\0')
      .find((text) => text.startsWith(MARK))
    return entry?.slice(MARK.length) ?? null
  } catch {
    return null
  }
}
