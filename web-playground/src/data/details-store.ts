import type { Actable } from '../model/actions.ts'
import type { Row } from '../model/object.ts'
import { DETAILS } from './documents.ts'
import { messageOf } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

export interface ObjectLink {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly root: { readonly id: string }
}
export interface Blocker {
  readonly reason: string
  readonly message: string
  readonly object?: ObjectLink | null
  readonly holders?: readonly (ObjectLink | null)[]
  readonly until?: string
}
export interface Details extends Row, Actable {
  readonly parent: { readonly id: string } | null
  readonly updatedAt: string
  readonly generation: number
  readonly observedGeneration: number
  readonly labels: readonly { readonly key: string; readonly value: string }[]
  readonly progress: {
    readonly step: string | null
    readonly value: number | null
    readonly total: number | null
    readonly unit: string | null
  } | null
  readonly deadlines: readonly {
    readonly name: string
    readonly since: string
    readonly expiresAt: string
    readonly to: string | null
  }[]
  readonly failure: {
    readonly code: string
    readonly message: string
    readonly at: string
    readonly causeCount: number
    readonly causes: readonly {
      readonly code: string
      readonly kind: string
      readonly message: string
      readonly name: string
      readonly objectId: string
      readonly object: { readonly root: { readonly id: string } } | null
    }[]
  } | null
  readonly blockedBy: readonly Blocker[]
  readonly dependsOn: { readonly edges: readonly { readonly node: ObjectLink }[] }
  /** What only some kinds have. */
  readonly [more: string]: unknown
}

/** After a change, so that several at once are one look. */
const SETTLE_MS = 120
const LOOK_AGAIN_MS = 5_000

/** Everything of one object: read again when something in its tree has changed, and now and then. */
export class DetailsStore extends Store {
  readonly #session: Session
  readonly #id: string
  readonly #signal: AbortSignal
  details: Details | null | undefined
  error: string | null = null
  #planned: ReturnType<typeof setTimeout> | undefined

  constructor(session: Session, id: string, signal: AbortSignal) {
    super()
    this.#session = session
    this.#id = id
    this.#signal = signal
    const stop = session.feed.listen({
      changes: (changes) => {
        const rootId = this.details?.root.id
        if (changes.some((change) => change.objectId === id || change.rootId === rootId)) this.refresh()
      },
      reset: () => this.refresh(),
    })
    const again = setInterval(() => document.hidden || this.refresh(), LOOK_AGAIN_MS)
    signal.addEventListener('abort', () => {
      stop()
      clearInterval(again)
      clearTimeout(this.#planned)
    })
    void this.#read()
  }

  readonly refresh = (): void => {
    this.#planned ??= setTimeout(async () => {
      await this.#read()
      this.#planned = undefined
    }, SETTLE_MS)
  }

  async #read(): Promise<void> {
    try {
      const { object } = await this.#session.client.query<{ object: Details | null }>(
        DETAILS,
        { id: this.#id },
        { signal: this.#signal },
      )
      this.details = object
      this.error = null
    } catch (error) {
      if (this.#signal.aborted) return
      this.error = messageOf(error)
    }
    this.changed()
  }
}
