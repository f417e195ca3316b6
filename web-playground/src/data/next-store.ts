import { NEXT } from './documents-time.ts'
import { messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

export interface Movable {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly root: { readonly id: string; readonly name: string }
  readonly allowedTransitions: readonly {
    readonly machine: string
    readonly from: string
    readonly actor: string
    readonly to: string
    readonly reason: string
  }[]
}

/** The phases to which this viewer may move an object, queried again after each of its changes. */
export class NextStore extends Store {
  /** null: the object is gone, or may not be read. */
  object: Movable | null | undefined
  error: string | null = null
  #asked = 0

  constructor({ client, feed }: Session, id: string, signal: AbortSignal) {
    super()
    const read = async (reading: AbortSignal): Promise<void> => {
      this.#asked += 1
      const mine = this.#asked
      const { object } = await client.query(NEXT, { id }, { signal: reading })
      if (mine !== this.#asked) return
      this.object = object
      this.error = null
      this.changed()
    }
    const failed = (error: unknown): void => {
      if (signal.aborted) return
      this.error = messageOf(error)
      this.changed()
    }
    readLive(
      feed,
      {
        read,
        apply: (changes) => {
          if (changes.some(({ objectId }) => objectId === id)) read(signal).catch(failed)
        },
        failed,
      },
      signal,
    )
  }
}
