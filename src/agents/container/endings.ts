import { asError } from '../../client/as-error.ts'
import { pause, retryDelay } from '../../client/pause.ts'
import type { Engine } from './engine.ts'

/**
 * Wakes those who follow a container when it may have ended, with one stream of the engine's events for all. After a
 * gap in that stream it wakes everybody, and each checks its container.
 */
export class Endings implements AsyncDisposable {
  readonly #engine: Engine
  readonly #label: string
  readonly #onProblem: (error: Error) => void
  readonly #closed = new AbortController()
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #following: Promise<void>

  /** @param label whose value is the id under which a container is waited for */
  constructor(engine: Engine, label: string, onProblem: (error: Error) => void) {
    this.#engine = engine
    this.#label = label
    this.#onProblem = onProblem
    this.#following = this.#follow()
  }

  /** Calls back once, when the container may have ended. Disposing forgets it. */
  next(id: string, wake: () => void): Disposable {
    const waiting = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, waiting.add(wake))
    return {
      [Symbol.dispose]: () => {
        waiting.delete(wake)
        if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id)
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    await this.#following
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closed
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        const events = await this.#engine.events(signal)
        for (const id of this.#waiting.keys()) this.#wake(id)
        failures = 0
        await this.#read(events)
      } catch (error) {
        const { message } = asError(error)
        if (!signal.aborted && failures === 0)
          this.#onProblem(new Error(`The engine has ended its stream of events, which is requested again: ${message}`))
      }
      await pause(retryDelay(failures), signal)
    }
  }

  async #read(events: NodeJS.ReadableStream): Promise<void> {
    let rest = ''
    for await (const chunk of events) {
      const lines = `${rest}${String(chunk)}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const id = labelOf(line, this.#label)
        if (id !== null) this.#wake(id)
      }
    }
  }

  #wake(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake()
  }
}

function labelOf(event: string, label: string): string | null {
  try {
    const { Actor } = JSON.parse(event) as { readonly Actor?: { readonly Attributes?: Record<string, string> } }
    return Actor?.Attributes?.[label] ?? null
  } catch {
    return null
  }
}
