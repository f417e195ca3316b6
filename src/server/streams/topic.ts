import { setTimeout as delay, setImmediate as othersTurn } from 'node:timers/promises'
import type { Log, LogBatch, LogListener, ResolvedCursor } from '../../core/ports/log.ts'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import type { StreamEvent } from '../../graphql/log/event-stream.ts'
import type { LogSource } from '../../graphql/log/log-stream.ts'
import { EncodedBatch } from './encoded-batch.ts'
import { endOf } from './end-of.ts'
import type { Payload, Payloads } from './payloads.ts'
import type { Subscriber } from './subscriber.ts'

export type LogEvent = PhaseChangeRecord | LogBatch

export interface TopicParts {
  readonly log: Log
  readonly payloads: Payloads
  /** Executes the operation for one event, and serialises what comes of it. Never rejects. */
  readonly render: (event: StreamEvent<LogEvent>) => Payload
  /** Once for each event that is executed together with others. */
  readonly refresh: () => void
  /** Called with each batch that goes out live. */
  readonly sent: (last: PhaseChangeRecord) => void
}

type Pending =
  | { readonly type: 'changes'; readonly batch: LogBatch; readonly after: ResolvedCursor }
  | { readonly type: 'lost'; readonly through: ResolvedCursor }

/** Changes that wait to be executed. Beyond, subscribers read for themselves what they miss. */
const MAX_PENDING = 5_000
/** After as long as it took to write to all, and no longer, the next parcel goes out. Few subscribers never wait. */
const PAUSE_FROM_MS = 1
const MAX_PAUSE_MS = 5
/** So long others wait while a parcel is written to many. */
const TURN_MS = 10
/** Changes that go out together; bounds the bytes as well as the time that nobody else gets. */
const MAX_ENCODED_BATCH = 250

/** One operation, for all who subscribed to it: executed and serialised once for each event, then sent to each. */
export class Topic implements LogListener {
  readonly source: LogSource
  readonly #name: string
  readonly #parts: TopicParts
  /** By the ids of their operations: who has the same gets the same bytes. */
  readonly #live = new Map<string, Set<Subscriber>>()
  readonly #pending: Pending[] = []
  #waiting = 0
  #isPumping = false
  #unlisten: (() => void) | null = null
  #members = 0

  /** @param name nobody else's */
  constructor(name: string, source: LogSource, parts: TopicParts) {
    this.#name = name
    this.source = source
    this.#parts = parts
  }

  get log(): Log {
    return this.#parts.log
  }

  enter(): void {
    this.#members += 1
    this.#unlisten ??= this.#parts.log.listen(this.source.query, this)
  }
  /** True: nobody is left. */
  leave(subscriber: Subscriber): boolean {
    this.stopLive(subscriber)
    this.#members -= 1
    if (this.#members > 0) return false
    this.#unlisten?.()
    this.#unlisten = null
    return true
  }
  goLive(subscriber: Subscriber): void {
    const alike = this.#live.get(subscriber.id)
    if (alike) alike.add(subscriber)
    else this.#live.set(subscriber.id, new Set([subscriber]))
  }
  stopLive(subscriber: Subscriber): void {
    const alike = this.#live.get(subscriber.id)
    if (alike?.delete(subscriber) && alike.size === 0) this.#live.delete(subscriber.id)
  }

  offer(changes: readonly PhaseChangeRecord[], after: ResolvedCursor, through: ResolvedCursor): void {
    if (this.#live.size === 0) return
    const last = this.#pending.at(-1)
    if (last?.type === 'lost') return
    if (this.#waiting + changes.length > MAX_PENDING) return this.lost(after)
    this.#waiting += changes.length
    let at = after
    // Much that comes at once goes out in parcels, too: between them it is seen whose client is slow.
    for (let i = 0; i === 0 || i < changes.length; i += MAX_ENCODED_BATCH) {
      const part = changes.length > MAX_ENCODED_BATCH ? changes.slice(i, i + MAX_ENCODED_BATCH) : changes
      const upTo = endOf(part, i + MAX_ENCODED_BATCH >= changes.length, through)
      this.#push({ type: 'changes', batch: { changes: part, through: upTo }, after: at })
      at = upTo
    }
  }
  tick(through: ResolvedCursor): void {
    if (this.source.events !== 'batches' || this.#live.size === 0 || this.#pending.length > 0) return
    this.#push({ type: 'changes', batch: { changes: [], through }, after: through })
  }
  lost(through: ResolvedCursor): void {
    this.#push({ type: 'lost', through })
  }

  /** What a batch looks like to subscribers; several of them may ask for the same. */
  async payloadsOf(batch: LogBatch, after: ResolvedCursor): Promise<readonly Buffer[]> {
    const { payloads, render, refresh } = this.#parts
    refresh()
    const all: readonly Payload[] = this.#eventsOf(batch).map((event) => {
      const make = () => render({ value: event })
      if (this.#members === 1) return make()
      const key = 'sequence' in event ? `${event.sequence}` : `${after.sequence} ${event.through.sequence}`
      // Another log has other changes with the same numbers.
      return payloads.get(`${this.#name} ${batch.through.lineage} ${key}`, make)
    })
    return await Promise.all(all)
  }
  failurePayload(event: StreamEvent<LogEvent>): Payload {
    return this.#parts.render(event)
  }

  #eventsOf(batch: LogBatch): readonly LogEvent[] {
    const { events, maxBatch } = this.source
    if (events === 'changes') return batch.changes
    if (batch.changes.length <= maxBatch) return [batch]
    const pieces: LogBatch[] = []
    for (let i = 0; i < batch.changes.length; i += maxBatch) {
      const changes = batch.changes.slice(i, i + maxBatch)
      pieces.push({ changes, through: endOf(changes, i + maxBatch >= batch.changes.length, batch.through) })
    }
    return pieces
  }

  #push(pending: Pending): void {
    this.#pending.push(pending)
    if (this.#isPumping) return
    this.#isPumping = true
    // Not at once: what else arrives in this turn goes with it.
    setImmediate(() => void this.#pump())
  }

  async #pump(): Promise<void> {
    for (let next = this.#take(); next; next = this.#take()) {
      if (next.type === 'lost') this.#loseAll(next.through)
      else await this.#send(next.batch, next.after)
    }
    this.#isPumping = false
  }

  /** The next one; what has come up while the last one was on its way goes out together. */
  #take(): Pending | undefined {
    const first = this.#pending.shift()
    if (first?.type !== 'changes') return first
    const changes = [...first.batch.changes]
    let { through } = first.batch
    for (let next = this.#pending[0]; next?.type === 'changes'; next = this.#pending[0]) {
      if (changes.length + next.batch.changes.length > MAX_ENCODED_BATCH) break
      for (const change of next.batch.changes) changes.push(change)
      through = next.batch.through
      this.#pending.shift()
    }
    this.#waiting -= changes.length
    return { type: 'changes', batch: { changes, through }, after: first.after }
  }

  async #send(batch: LogBatch, after: ResolvedCursor): Promise<void> {
    const spent = await this.#deliver(new EncodedBatch(after, batch.through, await this.payloadsOf(batch, after)))
    const last = batch.changes.at(-1)
    if (last) this.#parts.sent(last)
    // A write to a connection costs much the same for one message as for fifty: what comes up meanwhile goes together.
    if (spent > PAUSE_FROM_MS) await delay(Math.min(spent, MAX_PAUSE_MS))
  }

  /** In milliseconds, how long it took. Who goes live meanwhile has it already. */
  async #deliver(batch: EncodedBatch): Promise<number> {
    const started = performance.now()
    let turn = started
    for (const alike of this.#live.values()) {
      for (const subscriber of alike) {
        subscriber.deliver(batch)
        if (performance.now() - turn < TURN_MS) continue
        batch.rest()
        await othersTurn()
        turn = performance.now()
      }
    }
    batch.rest()
    return performance.now() - started
  }

  #loseAll(through: ResolvedCursor): void {
    for (const alike of [...this.#live.values()]) for (const subscriber of [...alike]) subscriber.lost(through)
  }
}
