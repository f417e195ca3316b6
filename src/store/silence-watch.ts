import { DatabaseUnavailable } from '../core/database-unavailable.ts'
import { every } from '../process/every.ts'
import type { CallbackClient } from './callback-client.ts'
import type { Reachability } from './reachability.ts'

/** Looks at the connections in the time of one silence. */
const LOOKS = 8

interface Heard {
  bytes: number
  /** Looks in a row without a byte, while a statement waited. They are counted, so that a process that stood still itself has not waited. */
  quiet: number
  /** Postgres works on nothing for it. The answer may have been on its way then, so the next look decides. */
  isSuspect: boolean
}

/**
 * Ends connections on which statements wait in vain. A half-open connection never breaks by itself, and no timeout of Postgres
 * reaches its client. A statement may wait for a lock or work for as long as it likes, if Postgres says on another
 * connection that it does; and an answer that comes slowly is no silence.
 */
export class SilenceWatch {
  readonly #lookMs: number
  readonly #reachability: Reachability
  readonly #heard = new Map<CallbackClient, Heard>()
  #stop: (() => void) | null = null
  #asking: Promise<void> | null = null

  constructor(silenceMs: number, reachability: Reachability) {
    this.#lookMs = silenceMs / LOOKS
    this.#reachability = reachability
  }

  add(client: CallbackClient): void {
    this.#heard.set(client, { bytes: client.bytesRead, quiet: 0, isSuspect: false })
    client.once('end', () => this.#heard.delete(client))
    this.#stop ??= every(this.#lookMs, () => this.#look())
  }

  stop(): void {
    this.#stop?.()
    this.#stop = null
  }

  #look(): void {
    for (const [client, heard] of this.#heard) {
      const bytes = client.bytesRead
      if (bytes !== heard.bytes) this.#reachability.heard()
      heard.quiet = client.isWaiting && bytes === heard.bytes ? heard.quiet + 1 : 0
      heard.bytes = bytes
      if (heard.quiet === 0) heard.isSuspect = false
    }
    const { isDown } = this.#reachability
    const silent = this.#silent()
    const isLost = (client: CallbackClient): boolean => isDown || this.#heard.get(client)?.isSuspect === true
    end(silent.filter(isLost))
    const unknown = silent.filter((client) => !isLost(client))
    if (unknown.length === 0) return
    this.#asking ??= this.#ask(unknown).finally(() => {
      this.#asking = null
    })
  }

  /** The first look has not seen how long the statement had waited before. */
  #silent(): readonly CallbackClient[] {
    return [...this.#heard].flatMap(([client, { quiet }]) => (quiet > LOOKS ? [client] : []))
  }

  async #ask(silent: readonly CallbackClient[]): Promise<void> {
    const pids = silent.flatMap(({ backendPid }) => backendPid ?? [])
    try {
      const working = await this.#reachability.working(pids)
      for (const client of silent) {
        const heard = this.#heard.get(client)
        // An answer may have come meanwhile.
        if (!heard || heard.quiet === 0) continue
        if (working === null || working.has(client.backendPid ?? 0)) heard.quiet = 0
        else heard.isSuspect = true
      }
    } catch {
      // The next looks end these connections if the database is away.
    }
  }
}

function end(silent: readonly CallbackClient[]): void {
  for (const client of silent) client.destroy(new DatabaseUnavailable('the database does not answer'))
}
