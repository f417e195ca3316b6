import type { WebSocket } from 'ws'
import { type NextTurn, parseJson, textOf } from '../json/parse-json.ts'
import { JsonScanner, PIECE, type TextProblem } from '../json/request-text.ts'
import { release } from '../limits/release.ts'

/** A message for graphql-ws, which parses a text itself; or why it has none. */
export type ReadMessage =
  | { readonly ok: true; readonly message: unknown }
  | { readonly ok: false; readonly problem: TextProblem | 'INVALID' }

interface Reading {
  readonly maxValues: number
  readonly turn: NextTurn
}

/** Reads the messages of a socket in the order in which they come, in turns with those of other callers. */
export class IncomingMessages {
  readonly #socket: WebSocket
  readonly #reading: Reading
  /** Settles when all messages so far are read; null: they are. */
  #last: Promise<void> | null = null
  /** Reasons for which nothing more is received at the moment. */
  #pauses = 0
  /** Messages that have arrived and not begun. */
  #waiting = 0

  constructor(socket: WebSocket, reading: Reading) {
    this.#socket = socket
    this.#reading = reading
  }

  get waiting(): number {
    return this.#waiting
  }
  get isPaused(): boolean {
    return this.#pauses > 0
  }

  /** Calls back once with each message, in its turn. */
  read(data: Buffer, take: (read: ReadMessage) => void): void {
    this.inTurn(() => (data.length > PIECE ? this.#readLarge(data).then(take) : take(this.#readSmall(data))))
  }

  /** Begins one after the other, each in a turn; nothing more is received until then. */
  inTurn(begin: () => Promise<void> | void): void {
    const { turn } = this.#reading
    const wait = this.#last === null ? turn() : this.#last.then(turn, turn)
    if (wait !== undefined) this.#waiting += 1
    const begun =
      wait === undefined
        ? begin()
        : wait.then(() => {
            this.#waiting -= 1
            return begin()
          })
    if (!begun) return
    this.#last = begun
    this.#pause()
    const ended = (): void => {
      if (this.#last === begun) this.#last = null
      this.#resume()
    }
    begun.then(ended, ended)
  }

  /** Receives nothing for so many milliseconds. */
  pauseFor(ms: number): void {
    this.#pause()
    setTimeout(() => this.#resume(), ms).unref()
  }

  #readSmall(data: Buffer): ReadMessage {
    const problem = new JsonScanner(this.#reading.maxValues).scan(data)
    if (problem) return { ok: false, problem }
    try {
      return { ok: true, message: textOf(data) }
    } catch {
      // Frames of text are judged when they arrive, others are not.
      return { ok: false, problem: 'INVALID' }
    }
  }

  async #readLarge(data: Buffer): Promise<ReadMessage> {
    const { maxValues, turn } = this.#reading
    const scanner = new JsonScanner(maxValues)
    for (let start = 0; start < data.length; start += PIECE) {
      if (start > 0) await turn()
      const problem = scanner.scan(data.subarray(start, start + PIECE))
      if (problem) return { ok: false, problem }
    }
    try {
      const message = await parseJson(data, scanner.large, turn)
      release(data)
      return { ok: true, message }
    } catch {
      return { ok: false, problem: 'INVALID' }
    }
  }

  #pause(): void {
    this.#pauses += 1
    this.#socket.pause()
  }

  #resume(): void {
    this.#pauses -= 1
    // One that closes is not read any more.
    if (this.#pauses === 0 && this.#socket.readyState === this.#socket.OPEN) this.#socket.resume()
  }
}
