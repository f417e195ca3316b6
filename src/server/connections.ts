import type { Tokens } from '../graphql/auth/tokens.ts'

/** Long-lived connections are closed within so many milliseconds after their token was revoked or has expired. */
const CHECK_MS = 5_000

interface Open {
  readonly secret: string
  /** It goes on until somebody ends it. */
  readonly isStream: boolean
  readonly end: () => void
}

/** What is open right now, each with the token that it was opened with. */
export class Connections implements Disposable {
  readonly #open = new Set<Open>()
  readonly #tokens: Tokens
  readonly #timer: NodeJS.Timeout
  constructor(tokens: Tokens) {
    this.#tokens = tokens
    this.#timer = setInterval(() => void this.#check(), CHECK_MS)
    this.#timer.unref()
  }

  /** Call what is returned when it has closed. */
  opened(connection: Open): () => void {
    this.#open.add(connection)
    return () => void this.#open.delete(connection)
  }

  async #check(): Promise<void> {
    for (const secret of new Set([...this.#open].map((connection) => connection.secret))) {
      // A store that cannot be asked right now says nothing about the token.
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
