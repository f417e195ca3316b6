import type { ExecutionResult } from 'graphql'
import type { ResolvedCursor } from '../../core/ports/log.ts'
import type { ClientSink } from './client-sink.ts'
import type { EncodedBatch } from './encoded-batch.ts'
import { endOf } from './end-of.ts'
import type { Payload } from './payloads.ts'
import type { Topic } from './topic.ts'

/** Changes that a subscriber who is behind gets at a time. */
const CHUNK = 250

export interface SubscriberParts {
  readonly topic: Topic
  readonly sink: ClientSink
  /** The operation's, in its messages. */
  readonly id: string
  /** Taken when it subscribed. */
  readonly place: Promise<ResolvedCursor>
  /** Tells why a stream cannot go on, as a payload. */
  readonly failed: (error: unknown) => Payload
  readonly closed: () => void
}

export type SubscriberState = 'CATCHING_UP' | 'LIVE' | 'PAUSED' | 'ENDED'

/**
 * One subscription on one socket. It keeps its place in the log and nothing else: while it is live it is handed what its
 * topic sends; when its client is slow it pauses, and goes on from its place by reading.
 */
export class Subscriber implements AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #parts: SubscriberParts
  readonly #ended = Promise.withResolvers<void>()
  #place: ResolvedCursor = { lineage: 0, sequence: 0, mark: null }
  #state: SubscriberState = 'CATCHING_UP'
  #hasStarted = false
  #isLost = false
  readonly counts = { messages: 0, bytes: 0, reads: 0, pauses: 0 }

  constructor(parts: SubscriberParts) {
    this.#parts = parts
  }

  /** Of its operation, on its socket. */
  get id(): string {
    return this.#parts.id
  }
  get state(): SubscriberState {
    return this.#state
  }
  /** All that matches, up to here, was sent. */
  get sequence(): number {
    return this.#place.sequence
  }

  /** Everything is written past the iterator, so it only ends. Nothing is written before it is first asked. */
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
    const { sequence } = this.#place
    if (sequence >= batch.through.sequence) return
    if (sequence > batch.after.sequence || !sink.isReady) {
      // Up to where the parcel begins nothing is missing.
      this.#moveTo(batch.after)
      topic.stopLive(this)
      void this.#catchUp()
      return
    }
    this.#count(batch.writeTo(sink, id), batch.payloads.length)
    this.#place = batch.through
  }

  lost(through: ResolvedCursor): void {
    this.#moveTo(through)
    this.#parts.topic.stopLive(this)
    this.#isLost = true
    void this.#catchUp()
  }

  async #run(): Promise<void> {
    try {
      this.#place = await this.#parts.place
    } catch (error) {
      return await this.#fail(error)
    }
    await this.#catchUp()
  }

  /** Reads from its place on until it is where the log ends, then goes live. */
  async #catchUp(): Promise<void> {
    const { topic, sink } = this.#parts
    try {
      while (this.#state !== 'ENDED') {
        if (!sink.isReady) await this.#pause()
        this.#enter('CATCHING_UP')
        if (this.#isLost) {
          this.#isLost = false
          this.#place = await topic.log.renew(this.#place)
        }
        const reading = topic.log.next(topic.source.query, this.#place, CHUNK)
        if (reading === null) {
          // At once: what comes after this moment is offered to those who are live.
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
    let after = this.#place
    // From the database more may come than is good to be written at once.
    for (let i = 0; i === 0 || i < batch.changes.length; i += CHUNK) {
      const changes = batch.changes.slice(i, i + CHUNK)
      const through = endOf(changes, i + CHUNK >= batch.changes.length, batch.through)
      const payloads = await topic.payloadsOf({ changes, through }, after)
      if (!sink.isReady) await this.#pause()
      if (this.#state === 'ENDED') return
      if (payloads.length > 0) this.#write(sink.encode(id, payloads), payloads.length)
      this.#place = through
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

  /** Never back. */
  #moveTo(place: ResolvedCursor): void {
    if (place.sequence > this.#place.sequence) this.#place = place
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
