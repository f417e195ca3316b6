import { hash } from 'node:crypto'
import type { Signal } from '../core/ports/signal.ts'
import { listen } from '../log/signal/listen.ts'
import type { Logger } from '../logger.ts'
import { every } from '../process/every.ts'

const BEAT_CHANNEL = 'phaseline:engines'
/** Each engine says that it runs, and is forgotten after a silence, in milliseconds. */
const BEAT_MS = 2_000
const SILENCE_MS = 5_000
/** Time that the engine whose turn it is has for a due tree until any engine takes it, in milliseconds. */
export const TURN_MS = 100

/**
 * Names one of several engines for each due tree. Engines that all take what is due find most of it locked by each other.
 * The turn is a hint, never a lock: engines that disagree, or one that stands still, cost others `TURN_MS`.
 */
export class EngineTurns implements AsyncDisposable {
  readonly #id: string
  readonly #others = new Map<string, number>()
  readonly #subscription: { close(): Promise<void> }
  readonly #stop: () => void
  /** Trees that this process has woken, and knows better than others do. */
  readonly #near = new Set<string>()
  /** Since when a due tree waits here for another engine, by the monotonic clock. */
  #left = new Map<string, number>()

  constructor({ id, signal, logger }: { readonly id: string; readonly signal: Signal; readonly logger: Logger }) {
    this.#id = id
    this.#subscription = listen(signal, BEAT_CHANNEL, (other) => this.#noteBeat(other), logger)
    const beat = () => signal.publish(BEAT_CHANNEL, id)
    beat()
    this.#stop = every(BEAT_MS, beat)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
    await this.#subscription.close()
  }

  /** Other engines that run, as far as is known. */
  get others(): number {
    const since = performance.now() - SILENCE_MS
    for (const [id, at] of this.#others) if (at < since) this.#others.delete(id)
    return this.#others.size
  }

  /** This process has woken these trees. @returns the message for other engines */
  woke(rootIds: readonly string[]): string {
    for (const rootId of rootIds) this.#near.add(rootId)
    return wakeMessage(rootIds, this.#id)
  }

  /** Trees were woken elsewhere. This engine searches at once, after the turn of others, or not at all. */
  heard(message: string): 'at once' | 'later' | 'no' {
    const { by, rootIds } = readWake(message)
    if (by === this.#id) return 'no'
    if (this.others === 0 || rootIds === null) return 'at once'
    return by === null && rootIds.some((rootId) => this.isOurs(rootId)) ? 'at once' : 'later'
  }

  /** The due trees that this engine takes: its own, and those that nobody has taken in time. */
  take(due: readonly string[]): readonly string[] {
    const now = performance.now()
    const others = this.others === 0 ? [] : due.filter((rootId) => !this.isOurs(rootId))
    this.#left = new Map(others.map((rootId) => [rootId, this.#left.get(rootId) ?? now]))
    const isDue = new Set(due)
    for (const rootId of this.#near) if (!isDue.has(rootId)) this.#near.delete(rootId)
    return due.filter((rootId) => now - (this.#left.get(rootId) ?? Number.NEGATIVE_INFINITY) >= TURN_MS)
  }

  /** This engine has the turn. */
  isOurs(rootId: string): boolean {
    if (this.#near.has(rootId)) return true
    const own = weight(this.#id, rootId)
    return [...this.#others.keys()].every((other) => weight(other, rootId) < own)
  }

  /** Some due trees are left to other engines for now. */
  get leavesSome(): boolean {
    return this.#left.size > 0
  }

  #noteBeat(other: string): void {
    if (other !== this.#id) this.#others.set(other, performance.now())
  }
}

/** A message names so many trees, or none at all. */
const NAMED = 100

/** @param by the engine of the process that has woken them; null: it has none */
export const wakeMessage = (rootIds: readonly string[], by: string | null = null): string =>
  rootIds.length > NAMED ? '' : JSON.stringify({ by, rootIds })

function readWake(message: string): { readonly by: string | null; readonly rootIds: readonly string[] | null } {
  return message === '' ? { by: null, rootIds: null } : JSON.parse(message)
}

/** The same for the same two in each process: of several engines the one with the greatest has the turn. */
const weight = (engine: string, rootId: string): string => hash('sha1', `${rootId} ${engine}`)
