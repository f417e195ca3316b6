import type { ExecutionResult } from 'graphql'
import type { StreamEvent } from '../../graphql/event-stream.ts'
import type { Outlet } from './outlet.ts'
import type { Payload } from './payloads.ts'

export interface OwnStreamParts {
  /** Tells what goes wrong as an event; never throws. */
  readonly source: AsyncIterable<StreamEvent<unknown>>
  /** Never rejects. */
  readonly render: (event: StreamEvent<unknown>) => Payload
  readonly outlet: Outlet
  /** The operation's, in its messages. */
  readonly id: string
  readonly closed: () => void
}

/** A subscription that reads a source of its own, as quickly as its client reads. */
export class OwnStream implements AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #parts: OwnStreamParts
  readonly #events: AsyncIterator<StreamEvent<unknown>>
  readonly #ended = Promise.withResolvers<void>()
  #hasStarted = false
  #hasEnded = false
  readonly counts = { messages: 0, bytes: 0, reads: 0, pauses: 0 }

  constructor(parts: OwnStreamParts) {
    this.#parts = parts
    this.#events = parts.source[Symbol.asyncIterator]()
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
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#end()
    await this.#events.return?.()
    return { done: true, value: undefined }
  }
  [Symbol.asyncIterator](): this {
    return this
  }

  async #run(): Promise<void> {
    const { render, outlet, id } = this.#parts
    for (let next = await this.#events.next(); !next.done && !this.#hasEnded; next = await this.#events.next()) {
      const payload = await render(next.value)
      if (!outlet.isReady) {
        this.counts.pauses += 1
        await outlet.ready()
      }
      if (this.#hasEnded) return
      const frames = outlet.encode(id, [payload])
      outlet.write(frames)
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
