import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Log, LogBatch, LogListener, ResolvedCursor } from '../../core/ports/log.ts'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import type { StreamEvent } from '../../graphql/log/event-stream.ts'
import type { LogSource } from '../../graphql/log/log-stream.ts'
import { EncodedBatch } from './encoded-batch.ts'
import { endOf } from './end-of.ts'
import type { EncodedPayload, PayloadCache } from './payload-cache.ts'

/** A subscriber, as its topic sees it. */
export interface TopicMember {
  /** Id of the operation on its socket. */
  readonly id: string
  deliver(batch: EncodedBatch): void
  /** The next batches will not be delivered: read after `through`. */
  lost(through: ResolvedCursor): void
}
export type LogEvent = PhaseChangeRecord | LogBatch

export interface TopicParts {
  readonly log: Log
  readonly payloads: PayloadCache
  /** Executes the operation for one event, and serialises the result. Never rejects. */
  readonly render: (event: StreamEvent<LogEvent>) => EncodedPayload
  /** Drops cached loads before a batch is executed. */
  readonly refresh: () => void
  /** Called after each live batch, with its last change. */
  readonly sent: (last: PhaseChangeRecord) => void
}

type Pending =
  | { readonly type: 'changes'; readonly batch: LogBatch; readonly after: ResolvedCursor }
  | { readonly type: 'lost'; readonly through: ResolvedCursor }

/** Changes that may wait for execution. Beyond, subscribers read the missing ones themselves. */
const MAX_PENDING = 5_000
/** After a write to many subscribers the topic pauses for as long as the write took, within these limits. */
const PAUSE_FROM_MS = 1
const MAX_PAUSE_MS = 5
/** Longest turn of the event loop while a batch is written to many subscribers. */
const TURN_MS = 10
/** Changes of one batch: bounds its bytes and the time of its turn. */
const MAX_ENCODED_BATCH = 250

/** One operation and all its subscribers: each event is executed and serialised once, then sent to each. */
export class Topic implements LogListener {
  readonly source: LogSource
  readonly #name: string
  readonly #parts: TopicParts
  /** Live members by operation id: members with the same id get the same bytes. */
  readonly #live = new Map<string, Set<TopicMember>>()
  readonly #pending: Pending[] = []
  #waiting = 0
  #isPumping = false
  #unlisten: (() => void) | null = null
  #members = 0

  /** @param name unique among topics */
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
  /** True: it was the last member. */
  leave(member: TopicMember): boolean {
    this.stopLive(member)
    this.#members -= 1
    if (this.#members > 0) return false
    this.#unlisten?.()
    this.#unlisten = null
    return true
  }
  goLive(member: TopicMember): void {
    const sameId = this.#live.get(member.id)
    if (sameId) sameId.add(member)
    else this.#live.set(member.id, new Set([member]))
  }
  stopLive(member: TopicMember): void {
    const sameId = this.#live.get(member.id)
    if (sameId?.delete(member) && sameId.size === 0) this.#live.delete(member.id)
  }

  offer(changes: readonly PhaseChangeRecord[], after: ResolvedCursor, through: ResolvedCursor): void {
    if (this.#live.size === 0) return
    const last = this.#pending.at(-1)
    if (last?.type === 'lost') return
    if (this.#waiting + changes.length > MAX_PENDING) return this.lost(after)
    this.#waiting += changes.length
    let at = after
    // A large offer is sent in several batches, too: slow clients are noticed between them.
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

  /** The payloads of a batch, shared with other subscribers that need the same ones. */
  async payloadsOf(batch: LogBatch, after: ResolvedCursor): Promise<readonly Buffer[]> {
    const { payloads, render, refresh } = this.#parts
    refresh()
    const all: readonly EncodedPayload[] = this.#eventsOf(batch).map((event) => {
      const make = () => render({ value: event })
      if (this.#members === 1) return make()
      const key = 'sequence' in event ? `${event.sequence}` : `${after.sequence} ${event.through.sequence}`
      // Another log has other changes at the same sequences.
      return payloads.get(`${this.#name} ${batch.through.lineage} ${key}`, make)
    })
    return await Promise.all(all)
  }
  failurePayload(event: StreamEvent<LogEvent>): EncodedPayload {
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
    // Deferred, so that offers of the same turn join it.
    setImmediate(() => void this.#pump())
  }

  async #pump(): Promise<void> {
    for (let next = this.#take(); next; next = this.#take()) {
      if (next.type === 'lost') this.#loseAll(next.through)
      else await this.#send(next.batch, next.after)
    }
    this.#isPumping = false
  }

  /** The next entry, joined with all changes that arrived while the last one was sent. */
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
    // A write costs much the same for one message as for fifty: changes that arrive meanwhile join the next batch.
    if (spent > PAUSE_FROM_MS) await delay(Math.min(spent, MAX_PAUSE_MS))
  }

  /** Returns the milliseconds that it took. A member that goes live meanwhile has read the batch already. */
  async #deliver(batch: EncodedBatch): Promise<number> {
    const started = performance.now()
    let turn = started
    for (const sameId of this.#live.values()) {
      for (const member of sameId) {
        member.deliver(batch)
        if (performance.now() - turn < TURN_MS) continue
        batch.release()
        await nextTurn()
        turn = performance.now()
      }
    }
    batch.release()
    return performance.now() - started
  }

  #loseAll(through: ResolvedCursor): void {
    for (const sameId of [...this.#live.values()]) for (const member of [...sameId]) member.lost(through)
  }
}
