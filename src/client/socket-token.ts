import { ClientError, isRecord } from './client-error.ts'
import type { TokenSource } from './token-source.ts'

/** The client renews a token this long before it expires, or with a third of its life left, whichever is later. */
const EARLY_MS = 30_000
/** Between two renewals that bring no fresher token, or none. */
const AGAIN_MS = 500

/** The token of a WebSocket: asked for whenever it connects, and sent anew in a ping before it expires. */
export class SocketToken {
  readonly #source: TokenSource
  #refusal: ClientError | null = null
  #wasAccepted = false
  /** The token of this connection. */
  #sent: string | undefined
  /** The token of the connection before, which the server refused at once. */
  #replaced: string | undefined
  /** The token that the next connection must not send again. */
  #refused: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(source: TokenSource) {
    this.#source = source
  }

  /** The payload of connection_init. */
  readonly params = async (): Promise<{ readonly authorization: string }> => {
    this.#refusal = null
    this.#wasAccepted = false
    this.#replaced = this.#refused
    try {
      this.#sent = await this.#source.ask(this.#refused)
      this.#refused = undefined
      return authorizationOf(this.#sent)
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
   * Explains a closed socket to its streams. graphql-ws does not say why there was no token. A token that expired while
   * this machine slept, or on its way, has a successor; only if the server refuses that too is the error final.
   */
  explain(error: ClientError): ClientError {
    if (this.#refusal) return this.#refusal
    if (error.kind !== 'unauthorized' || !this.#source.renews) return error
    if (!this.#wasAccepted) {
      if (this.#replaced !== undefined) return error
      this.#refused = this.#sent
    }
    return new ClientError('network', error.message, { status: error.status ?? undefined })
  }

  async #renew(socket: Pick<WebSocket, 'send'>): Promise<void> {
    const timer = this.#timer
    try {
      const payload = authorizationOf(await this.#source.ask())
      if (timer === this.#timer) socket.send(JSON.stringify({ type: 'ping', payload }))
    } catch (error) {
      // The server closes the socket when the token has expired.
      if (timer !== this.#timer || (error instanceof ClientError && !error.retryable)) return
      this.#timer = setTimeout(() => void this.#renew(socket), AGAIN_MS)
    }
  }
}

const authorizationOf = (token: string): { readonly authorization: string } => ({ authorization: `Bearer ${token}` })

/** The longest time of a timer. */
const MAX_MS = 2 ** 31 - 1
