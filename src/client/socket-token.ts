import { ClientError, isRecord } from './client-error.ts'

/** A renewal is asked for this long before the token expires, or with a third of its life left, whichever is later. */
const EARLY_MS = 30_000
/** Between two renewals that bring no fresher token, or none. */
const AGAIN_MS = 500

export interface TokenSource {
  readonly ask: () => Promise<string>
  /** A later call may return another token. */
  readonly renews: boolean
}

/** The token of a WebSocket: asked for whenever it connects, and sent anew in a ping before it expires. */
export class SocketToken {
  readonly #source: TokenSource
  #refusal: ClientError | null = null
  #wasAccepted = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(source: TokenSource) {
    this.#source = source
  }

  /** The payload of connection_init. */
  readonly params = async (): Promise<{ readonly authorization: string }> => {
    this.#refusal = null
    this.#wasAccepted = false
    try {
      return await this.#authorization()
    } catch (error) {
      if (error instanceof ClientError) this.#refusal = error
      throw error
    }
  }

  /** The server has accepted a token, and says when it expires. */
  accepted(socket: Pick<WebSocket, 'send'>, life: unknown): void {
    this.#wasAccepted = true
    clearTimeout(this.#timer)
    const expiresInMs = isRecord(life) && typeof life.expiresInMs === 'number' ? life.expiresInMs : null
    if (!this.#source.renews || expiresInMs === null) return
    const inMs = expiresInMs - Math.min(EARLY_MS, expiresInMs / 3)
    this.#timer = setTimeout(() => void this.#renew(socket), Math.min(MAX_MS, Math.max(AGAIN_MS, inMs)))
  }

  closed(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /**
   * What a closed socket means for its streams. graphql-ws does not say why there was no token; and a token that expired
   * while this machine slept has a successor.
   */
  explain(error: ClientError): ClientError {
    if (this.#refusal) return this.#refusal
    if (error.kind !== 'unauthorized' || !this.#wasAccepted || !this.#source.renews) return error
    return new ClientError('network', error.message, { status: error.status ?? undefined })
  }

  async #renew(socket: Pick<WebSocket, 'send'>): Promise<void> {
    const timer = this.#timer
    try {
      const payload = await this.#authorization()
      if (timer === this.#timer) socket.send(JSON.stringify({ type: 'ping', payload }))
    } catch (error) {
      // The server closes the socket when the token has expired.
      if (timer !== this.#timer || (error instanceof ClientError && !error.retryable)) return
      this.#timer = setTimeout(() => void this.#renew(socket), AGAIN_MS)
    }
  }

  async #authorization(): Promise<{ readonly authorization: string }> {
    return { authorization: `Bearer ${await this.#source.ask()}` }
  }
}

/** The longest time of a timer. */
const MAX_MS = 2 ** 31 - 1
