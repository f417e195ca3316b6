import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Log, LogBatch, LogListener, ResolvedCursor } from '../../core/ports/log.ts'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import type { StreamEvent } from '../../graphql/log/event-stream.ts'
import type { LogSource } from '../../graphql/log/log-stream.ts'
import { cursorAt } from '../../log/cursor.ts'
import type { Account } from '../limits/accounts.ts'
import { EncodedBatch } from './encoded-batch.ts'
import { endOf } from './end-of.ts'
import type { EncodedPayload, PayloadCache } from './payload-cache.ts'

/** A subscriber, as its topic sees it. */
export interface TopicMember {
  /** Id of the operation on its socket. */
  readonly id: string
  /** Its caller. */
  readonly account: Account
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
  /** Waits for the turn of a caller. */
  readonly turn: (account: Account) => Promise<void> | undefined
  /** Messages are written for all members: who asks for little has no part in that. */
  readonly endTurn: () => void
  /** Called after each live batch, with its last change. */
  readonly sent: (last: PhaseChangeRecord) => void
}

interface Executing {
  readonly after: ResolvedCursor
  /** Once the payloads have so many bytes, no other event is executed. */
  readonly maxBytes: number
}
interface Executed {
  readonly payloads: readonly Buffer[]
  /** The changes of events that were not executed, and what they follow; null: all were. */
  readonly rest: { readonly changes: readonly PhaseChangeRecord[]; readonly after: ResolvedCursor } | null
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
/** Milliseconds for which events are executed in one turn of a caller: short ones do not let a modest caller rest. */
const EXECUTED_MS = 0.5
/** Bytes of payloads after which a batch is sent: its rest waits as changes, which all topics share. */
const MAX_PAYLOADS = 64 * 1_024
/** The size that a first payload is taken for while it is not there yet. */
const BYTES_AT_FIRST = 1_024

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
  /** Members of each caller. */
  readonly #callers = new Map<Account, number>()
  #members = 0
  /** The size of the last payload. */
  #payloadBytes = BYTES_AT_FIRST

  /** @param name unique among topics */
  constructor(name: string, source: LogSource, parts: TopicParts) {
    this.#name = name
    this.source = source
    this.#parts = parts
  }

  get log(): Log {
    return this.#parts.log
  }

  /** The member that does the work for all: one that asks for little, so that nobody delays what is also for others. */
  get account(): Account | undefined {
    const [first] = this.#callers.keys()
    if (this.#callers.size <= 1) return first
    return this.#callers.keys().find(({ isModest }) => isModest) ?? first
  }

  enter(account: Account): void {
    this.#members += 1
    this.#callers.set(account, (this.#callers.get(account) ?? 0) + 1)
    this.#unlisten ??= this.#parts.log.listen(this.source.query, this)
  }
  /** True: it was the last member. */
  leave(member: TopicMember): boolean {
    this.stopLive(member)
    this.#members -= 1
    const others = (this.#callers.get(member.account) ?? 0) - 1
    if (others > 0) this.#callers.set(member.account, others)
    else this.#callers.delete(member.account)
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

  /** The payloads of a batch, shared with other subscribers that need the same ones, and executed in turns. */
  async payloadsOf(batch: LogBatch, after: ResolvedCursor, account: Account): Promise<readonly Buffer[]> {
    return (await this.#executeFor(account, batch, { after, maxBytes: Number.POSITIVE_INFINITY })).payloads
  }
  failurePayload(event: StreamEvent<LogEvent>): EncodedPayload {
    return this.#parts.render(event)
  }

  /** Executes the events of a batch, or the first of them. */
  #executeFor(account: Account, batch: LogBatch, executing: Executing): Promise<Executed> {
    return account.execute(() => this.#execute(account, batch, executing))
  }

  async #execute(account: Account, batch: LogBatch, { after, maxBytes }: Executing): Promise<Executed> {
    const { refresh, turn, endTurn } = this.#parts
    const events = this.#eventsOf(batch)
    const all: EncodedPayload[] = []
    let bytes = 0
    let turnEnds = 0
    refresh()
    for (const event of events) {
      if (performance.now() >= turnEnds) {
        const waiting = turn(account)
        if (waiting) await waiting
        turnEnds = performance.now() + EXECUTED_MS
      }
      // All have left meanwhile.
      if (this.#members === 0) break
      const payload = this.#payloadOf(event, { batch, after })
      all.push(payload)
      bytes += Buffer.isBuffer(payload) ? payload.length : this.#payloadBytes
      if (bytes >= maxBytes) break
    }
    const payloads = await Promise.all(all)
    if (account.isModest) endTurn()
    this.#payloadBytes = payloads.at(-1)?.length ?? this.#payloadBytes
    return { payloads, rest: restOf(batch, events, all.length) }
  }

  #payloadOf(
    event: LogEvent,
    { batch, after }: { readonly batch: LogBatch; readonly after: ResolvedCursor },
  ): EncodedPayload {
    const { payloads, render } = this.#parts
    const make = () => render({ value: event })
    if (this.#members === 1) return make()
    const key = 'sequence' in event ? `${event.sequence}` : `${after.sequence} ${event.through.sequence}`
    // Another log has other changes at the same sequences.
    return payloads.get(`${this.#name} ${batch.through.lineage} ${key}`, make)
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
      // All that waited for it have left.
      if (this.#live.size === 0) continue
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
    const { account } = this
    // All have left.
    if (!account) return
    const { payloads, rest } = await this.#executeFor(account, batch, { after, maxBytes: MAX_PAYLOADS })
    const spent = await this.#deliver(new EncodedBatch(after, rest?.after ?? batch.through, payloads))
    if (rest) {
      this.#waiting += rest.changes.length
      this.#pending.unshift({
        type: 'changes',
        batch: { changes: rest.changes, through: batch.through },
        after: rest.after,
      })
    }
    const last = batch.changes.at(-1 - (rest?.changes.length ?? 0))
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

/** The changes after so many events of a batch. */
function restOf(batch: LogBatch, events: readonly LogEvent[], executed: number): Executed['rest'] {
  const last = events[executed - 1]
  if (executed === events.length || !last) return null
  const { through } = 'sequence' in last ? { through: { lineage: batch.through.lineage, ...cursorAt(last) } } : last
  return { changes: batch.changes.filter(({ sequence }) => sequence > through.sequence), after: through }
}
