import type { Tokens } from '../graphql/auth/tokens.ts'

/** Long-lived connections are closed within this time after their token was revoked or has expired. */
const CHECK_MS = 5_000

interface Open {
  readonly secret: string
  /** It stays open until one side ends it. */
  readonly isStream: boolean
  readonly end: () => void
}

/** Open connections, each with the token that opened it. */
export class Connections implements Disposable {
  readonly #open = new Set<Open>()
  readonly #tokens: Tokens
  readonly #timer: NodeJS.Timeout
  constructor(tokens: Tokens) {
    this.#tokens = tokens
    this.#timer = setInterval(() => void this.#check(), CHECK_MS)
    this.#timer.unref()
  }

  /** Registers a connection. Call the returned function when it has closed. */
  opened(connection: Open): () => void {
    this.#open.add(connection)
    return () => void this.#open.delete(connection)
  }

  async #check(): Promise<void> {
    for (const secret of new Set([...this.#open].map((connection) => connection.secret))) {
      // While the store is unavailable, the token counts as valid.
      const valid = await this.#tokens.authenticate(secret).then(
        (viewer) => viewer !== null,
        () => true,
      )
      if (valid) continue
      for (const connection of this.#open) if (connection.secret === secret) connection.end()
    }
  }

  endStreams(): void {
    for (const { isStream, end } of this.#open) if (isStream) end()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
