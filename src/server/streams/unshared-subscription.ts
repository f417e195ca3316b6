import type { ExecutionResult } from 'graphql'
import type { StreamEvent } from '../../graphql/log/event-stream.ts'
import type { ClientSink } from './client-sink.ts'
import type { EncodedPayload } from './payload-cache.ts'

export interface UnsharedSubscriptionParts {
  /** Errors are events of it; it never throws. */
  readonly source: AsyncIterable<StreamEvent<unknown>>
  /** Never rejects. */
  readonly render: (event: StreamEvent<unknown>) => EncodedPayload
  readonly sink: ClientSink
  /** Id of the operation, in its messages. */
  readonly id: string
  readonly closed: () => void
}

/** A subscription with a source of its own, read as fast as its client reads. */
export class UnsharedSubscription implements AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #parts: UnsharedSubscriptionParts
  readonly #events: AsyncIterator<StreamEvent<unknown>>
  readonly #ended = Promise.withResolvers<void>()
  #hasStarted = false
  #hasEnded = false
  readonly counts = { messages: 0, bytes: 0, reads: 0, pauses: 0 }

  constructor(parts: UnsharedSubscriptionParts) {
    this.#parts = parts
    this.#events = parts.source[Symbol.asyncIterator]()
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
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#end()
    await this.#events.return?.()
    return { done: true, value: undefined }
  }
  [Symbol.asyncIterator](): this {
    return this
  }

  async #run(): Promise<void> {
    const { render, sink, id } = this.#parts
    for (let next = await this.#events.next(); !next.done && !this.#hasEnded; next = await this.#events.next()) {
      const event = next.value
      const payload = await sink.account.execute(async () => {
        await sink.turn()
        return await render(event)
      })
      if (!sink.isReady) {
        this.counts.pauses += 1
        await sink.ready()
      }
      if (this.#hasEnded) return
      const frames = sink.encode(id, [payload])
      sink.write(frames)
      this.counts.messages += 1
      this.counts.bytes += frames.length
    }
    this.#end()
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#ended.resolve()
    this.#parts.closed()
  }
}
