import { ClientError } from './client-error.ts'

/** The token of a WebSocket: asked for whenever it connects. */
export class SocketToken {
  readonly #ask: () => Promise<string>
  #refusal: ClientError | null = null

  constructor(ask: () => Promise<string>) {
    this.#ask = ask
  }

  /** Why there was no token for the last connection; graphql-ws says only that it was closed. */
  get refusal(): ClientError | null {
    return this.#refusal
  }

  /** The payload of connection_init. */
  readonly params = async (): Promise<{ readonly authorization: string }> => {
    this.#refusal = null
    try {
      return { authorization: `Bearer ${await this.#ask()}` }
    } catch (error) {
      if (error instanceof ClientError) this.#refusal = error
      throw error
    }
  }
}
