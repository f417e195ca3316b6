import type { Signal } from '../core/ports/signal.ts'
import type { Logger } from '../logger.ts'
import { type Announcement, decode, logChannel, originOf } from './announcement.ts'
import type { LogIdentity } from './identity.ts'

export interface AnnouncementFeedOptions {
  readonly signal: Signal
  readonly logger: Logger
  /** The origin of this process's own numberer, whose announcements come directly. */
  readonly ownOrigin: string | undefined
  onAnnouncement(announcement: Announcement): void
  /** No process on this database has signed the message: perhaps the database has restarted. */
  onUnverified(): void
  /** Messages arrive from now on; what was announced before was missed. */
  onSubscribed(): void
}

/** Announcements of other processes, over the channel of one log, once it is opened. A process without readers takes none of them apart. */
export class AnnouncementFeed {
  readonly #options: AnnouncementFeedOptions
  #identity: LogIdentity
  #subscription: { close(): Promise<void> } | null = null
  #isOpen = false
  #closed = false

  constructor(identity: LogIdentity, options: AnnouncementFeedOptions) {
    this.#identity = identity
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#isOpen
  }
  open(): void {
    if (this.#isOpen || this.#closed) return
    this.#isOpen = true
    this.#subscribe()
  }

  /** Verifies with the new key, and follows the log to its new channel. */
  setIdentity(identity: LogIdentity): void {
    const { logId } = this.#identity
    this.#identity = identity
    if (identity.logId === logId || !this.#isOpen) return
    const previous = this.#subscription
    this.#subscription = null
    this.#subscribe()
    // A message on the old channel would be unverified.
    previous?.close().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#subscription?.close()
  }

  /** Not awaited: without a signal the log is read as well, only less often. */
  #subscribe(): void {
    const { signal, logger, onSubscribed } = this.#options
    const { logId } = this.#identity
    signal
      .subscribe(logChannel(logId), (message) => this.#onMessage(message))
      .then((subscription) => {
        if (this.#closed || logId !== this.#identity.logId) return subscription.close()
        this.#subscription = subscription
        return onSubscribed()
      })
      .catch((error: unknown) => {
        if (!this.#closed) logger.warn({ err: error }, 'The channel of the log cannot be subscribed to; polling it.')
      })
  }

  #onMessage(message: string): void {
    const { ownOrigin, onAnnouncement, onUnverified } = this.#options
    if (ownOrigin !== undefined && originOf(message) === ownOrigin) return
    const announcement = decode(message, this.#identity)
    if (announcement) onAnnouncement(announcement)
    else onUnverified()
  }
}
