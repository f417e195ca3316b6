import { LOGS } from './documents.ts'
import { messageOf } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

export interface Line {
  readonly at: string
  readonly cursor: string
  readonly stream: string
  readonly text: string
}
const ROOM = 10_000

/** The output of one object, live; it resumes after its last line. */
export class LinesStore extends Store {
  lines: readonly Line[] = []
  error: string | null = null
  ended = false

  constructor({ client }: Session, objectId: string, signal: AbortSignal) {
    super()
    void this.#follow(client, objectId, signal)
  }

  async #follow(client: Session['client'], objectId: string, signal: AbortSignal): Promise<void> {
    let pending: Line[] = []
    const flush = (): void => {
      this.lines = [...this.lines, ...pending].slice(-ROOM)
      pending = []
      this.changed()
    }
    try {
      const where = () => ({ objectId, after: (pending.at(-1) ?? this.lines.at(-1))?.cursor ?? null })
      for await (const { logs } of client.subscribe(LOGS, where, { signal })) {
        if (pending.push(logs) === 1) queueMicrotask(() => setTimeout(flush, GATHER_MS))
      }
      this.ended = true
    } catch (error) {
      if (!signal.aborted) this.error = messageOf(error)
    }
    this.changed()
  }
}
const GATHER_MS = 30
