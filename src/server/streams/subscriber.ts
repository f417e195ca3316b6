import type { ExecutionResult } from 'graphql'
import type { ResolvedCursor } from '../../core/ports/log.ts'
import type { Account } from '../limits/accounts.ts'
import type { ClientSink } from './client-sink.ts'
import type { EncodedBatch } from './encoded-batch.ts'
import { endOf } from './end-of.ts'
import type { EncodedPayload } from './payload-cache.ts'
import type { Topic, TopicMember } from './topic.ts'

/** Changes of one read while a subscriber catches up. */
const CHUNK = 250
/** Changes of one write, each an event of its own. */
const PIECE = 25

export interface SubscriberParts {
  readonly topic: Topic
  readonly sink: ClientSink
  /** Id of the operation, in its messages. */
  readonly id: string
  /** Resolved when it subscribed. */
  readonly cursor: Promise<ResolvedCursor>
  /** The payload of the error that ends the stream. */
  readonly failed: (error: unknown) => EncodedPayload
  readonly closed: () => void
}

export type SubscriberState = 'CATCHING_UP' | 'LIVE' | 'PAUSED' | 'ENDED'

/**
 * One subscription on one socket. It keeps a cursor of the log and nothing else: while it is live, its topic delivers
 * batches; when its client is slow it pauses, and catches up from its cursor by reading.
 *
 * - CATCHING_UP, from the first `next`, after a pause, or when a batch or a gap is beyond the cursor: holds one page of the log at a time.
 * - LIVE, when a read finds nothing more: is in its topic's list, whose batches it shares, and holds nothing of its own.
 * - PAUSED, while the client does not read: holds what was written to the connection, and is in no list.
 * - ENDED, by its client, a closed sink or an error: is forgotten by `closed`. Nothing leads out.
 */
export class Subscriber implements TopicMember, AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #parts: SubscriberParts
  readonly #ended = Promise.withResolvers<void>()
  #cursor: ResolvedCursor = { lineage: 0, sequence: 0, mark: null }
  #state: SubscriberState = 'CATCHING_UP'
  #hasStarted = false
  #isLost = false
  readonly counts = { messages: 0, bytes: 0, reads: 0, pauses: 0 }

  constructor(parts: SubscriberParts) {
    this.#parts = parts
  }

  /** Id of the operation on its socket. */
  get id(): string {
    return this.#parts.id
  }
  get state(): SubscriberState {
    return this.#state
  }
  get account(): Account {
    return this.#parts.sink.account
  }
  /** Every match up to here was sent. */
  get sequence(): number {
    return this.#cursor.sequence
  }

  /** Only ends: messages are written past the iterator, from its first `next` on. */
  async next(): Promise<IteratorReturnResult<undefined>> {
    if (!this.#hasStarted) {
      this.#hasStarted = true
      void this.#run()
    }
    await this.#ended.promise
    return { done: true, value: undefined }
  }
  return(): Promise<IteratorReturnResult<undefined>> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }
  [Symbol.asyncIterator](): this {
    return this
  }

  deliver(batch: EncodedBatch): void {
    const { topic, sink, id } = this.#parts
    const { sequence } = this.#cursor
    if (sequence >= batch.through.sequence) return
    if (sequence > batch.after.sequence || !sink.isReady) {
      // Every match before the batch was sent.
      this.#moveTo(batch.after)
      topic.stopLive(this)
      void this.#catchUp()
      return
    }
    this.#count(batch.writeTo(sink, id), batch.payloads.length)
    this.#cursor = batch.through
  }

  lost(through: ResolvedCursor): void {
    this.#moveTo(through)
    this.#parts.topic.stopLive(this)
    this.#isLost = true
    void this.#catchUp()
  }

  async #run(): Promise<void> {
    try {
      this.#cursor = await this.#parts.cursor
    } catch (error) {
      return await this.#fail(error)
    }
    await this.#catchUp()
  }

  /** Reads from its cursor to the end of the log, then goes live. */
  async #catchUp(): Promise<void> {
    const { topic, sink } = this.#parts
    try {
      while (this.#state !== 'ENDED') {
        if (!sink.isReady) await this.#pause()
        this.#enter('CATCHING_UP')
        if (this.#isLost) {
          this.#isLost = false
          this.#cursor = await topic.log.renew(this.#cursor)
        }
        const reading = topic.log.next(topic.source.query, this.#cursor, CHUNK)
        if (reading === null) {
          // In the same turn: the next changes are offered to live subscribers only.
          this.#enter('LIVE')
          if (this.#state === 'LIVE') topic.goLive(this)
          return
        }
        await this.#sendChunk(reading)
      }
    } catch (error) {
      await this.#fail(error)
    }
  }

  async #sendChunk(reading: ReturnType<Topic['log']['next']>): Promise<void> {
    const { topic, sink, id } = this.#parts
    const batch = await reading
    if (!batch) return
    this.counts.reads += 1
    let after = this.#cursor
    // A read from the database may be too large for one write.
    const size = topic.source.events === 'changes' ? PIECE : CHUNK
    for (let i = 0; i === 0 || i < batch.changes.length; i += size) {
      const changes = batch.changes.slice(i, i + size)
      const through = endOf(changes, i + size >= batch.changes.length, batch.through)
      const payloads = await topic.payloadsOf({ changes, through }, after, sink.account)
      if (!sink.isReady) await this.#pause()
      if (this.#state === 'ENDED') return
      if (payloads.length > 0) this.#write(sink.encode(id, payloads), payloads.length)
      this.#cursor = through
      after = through
    }
  }

  async #pause(): Promise<void> {
    this.counts.pauses += 1
    this.#enter('PAUSED')
    await this.#parts.sink.ready()
  }

  #enter(state: SubscriberState): void {
    if (!this.#parts.sink.isOpen) this.#end()
    else if (this.#state !== 'ENDED') this.#state = state
  }

  #write(frames: Buffer, messages: number): void {
    this.#parts.sink.write(frames)
    this.#count(frames.length, messages)
  }

  #count(bytes: number, messages: number): void {
    this.counts.messages += messages
    this.counts.bytes += bytes
  }

  /** Never moves back. */
  #moveTo(cursor: ResolvedCursor): void {
    if (cursor.sequence > this.#cursor.sequence) this.#cursor = cursor
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#state === 'ENDED') return
    const payload = await this.#parts.failed(error)
    const { sink, id } = this.#parts
    this.#write(sink.encode(id, [payload]), 1)
    this.#end()
  }

  #end(): void {
    if (this.#state === 'ENDED') return
    this.#state = 'ENDED'
    this.#ended.resolve()
    this.#parts.closed()
  }
}
