import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { pause } from '../../../../client/pause.ts'
import { onLinux, type Stat, statOf } from '../../../../process/identity.ts'
import { COOKIE } from '../runtime/workload-env.ts'

const COOKIE_PREFIX = `${COOKIE}=`
/** Processes inspected in one turn of the event loop. */
const AT_ONCE = 100
/**
 * A pause after each scan, so many times as long as the scan has taken: scans take a share of the processor, however many processes there
 * are, and many workloads that end at the same time share one.
 */
const PAUSE = 4
const MOST_PAUSE_MS = 40
/** Interval of checks of a process that is not ours. Its pid is not reused sooner: all other pids come first. */
const FOREIGN_MS = 1_000

type Found = ReadonlyMap<string, readonly Stat[]>

/**
 * Finds the processes of workloads by the variable that they inherit, whatever group or session they have moved to. A process
 * can give itself another's: its topmost ancestor that has the variable decides. For all in a sandbox that is bubblewrap, which
 * the supervisor has started and no workload can leave. Linux only: elsewhere it finds none. One scan answers all calls
 * that came before it began.
 */
export class WorkloadProcesses {
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<Found> | null = null
  #nextAt = 0
  /** Time of the next check of each process that is not ours, by pid. */
  #foreign = new Map<number, number>()

  /** Living processes of this workload. */
  async of(id: string): Promise<readonly Stat[]> {
    if (!onLinux) return []
    this.#next ??= this.#begin()
    return (await this.#next).get(id) ?? []
  }

  #begin(): Promise<Found> {
    const scan = this.#running.then(async () => {
      await pause(Math.max(0, this.#nextAt - performance.now()))
      this.#next = null
      const since = performance.now()
      const found = await this.#scan(since)
      const now = performance.now()
      this.#nextAt = now + Math.min(MOST_PAUSE_MS, PAUSE * (now - since))
      return found
    })
    this.#running = scan.catch(() => {})
    return scan
  }

  async #scan(now: number): Promise<Found> {
    const found = new Map<string, readonly Stat[]>()
    const foreign = new Map<number, number>()
    const owners = new Owners()
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    for (const [i, name] of pids.entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await turn()
      const pid = Number(name)
      const until = pid === process.pid ? Infinity : (this.#foreign.get(pid) ?? 0)
      if (until > now) {
        foreign.set(pid, until)
        continue
      }
      const { id: own, isForeign } = cookieOf(pid)
      if (isForeign) foreign.set(pid, now + FOREIGN_MS)
      const stat = own === null ? null : statOf(pid)
      if (own === null || !stat || stat.ended) continue
      const id = owners.above(stat) ?? own
      found.set(id, [...(found.get(id) ?? []), stat])
    }
    this.#foreign = foreign
    return found
  }
}

/** The workloads of processes by their ancestors, during one scan: each ancestor is read once, however many it has below it. */
class Owners {
  readonly #owners = new Map<number, string | null>()

  constructor() {
    // This process and all above it are of no workload of this runtime: it may itself run in another one's.
    for (let pid = process.pid; pid > 0 && !this.#owners.has(pid); pid = statOf(pid)?.parent ?? 0)
      this.#owners.set(pid, null)
  }

  /** The workload of the topmost ancestor that is of one; null: none is. */
  above({ parent }: Stat): string | null {
    const below: number[] = []
    let pid = parent
    while (pid > 0 && !this.#owners.has(pid)) {
      // Processes that change while they are read could form a circle.
      this.#owners.set(pid, null)
      below.push(pid)
      pid = statOf(pid)?.parent ?? 0
    }
    let owner = this.#owners.get(pid) ?? null
    for (const one of below.toReversed()) {
      owner ??= cookieOf(one).id
      this.#owners.set(one, owner)
    }
    return owner
  }
}

/** A process that is just being executed has an empty environment for a moment: it may be anybody's. */
function cookieOf(pid: number): { readonly id: string | null; readonly isForeign: boolean } {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`)
    if (!environment.includes(COOKIE_PREFIX)) return { id: null, isForeign: environment.length > 0 }
    const entry = environment
      .toString('latin1')
      .split('\0')
      .find((text) => text.startsWith(COOKIE_PREFIX))
    return { id: entry?.slice(COOKIE_PREFIX.length) ?? null, isForeign: false }
  } catch {
    // It has ended, or belongs to another user.
    return { id: null, isForeign: true }
  }
}
