import type { Viewer } from '../../core/ports/viewer.ts'
import type { Tokens } from '../../graphql/auth/tokens.ts'
import { every } from '../../process/every.ts'

/** Long-lived connections are ended within this time after their token has become invalid or the rights of it have changed. */
const CHECK_MS = 5_000

/** REVOKED: the token is not valid any more. CHANGED: it has other rights than those with which the connection was opened. */
export type EndReason = 'REVOKED' | 'CHANGED'

interface Open {
  readonly secret: string
  /** As which it was opened. */
  readonly viewer: Viewer
  /** It stays open until one side ends it. */
  readonly isStream: boolean
  readonly end: (reason: EndReason | 'CLOSING') => void
}

/** Open connections, each with the token that opened it, or that has taken its place. */
export class Connections implements Disposable {
  readonly #open = new Set<Open>()
  readonly #tokens: Tokens
  readonly #stop: () => void
  constructor(tokens: Tokens) {
    this.#tokens = tokens
    this.#stop = every(CHECK_MS, () => void this.#check())
  }

  /** Registers a connection. Call the returned function when it has closed. */
  opened(connection: Open): () => void {
    this.#open.add(connection)
    return () => void this.#open.delete(connection)
  }

  async #check(): Promise<void> {
    for (const [secret, connections] of Map.groupBy(this.#open, (connection) => connection.secret)) {
      // While the store is unavailable, the token counts as valid.
      const viewer = await this.#tokens.authenticate(secret).catch(() => undefined)
      if (viewer === undefined) continue
      for (const { viewer: before, end } of connections) {
        if (viewer === null) end('REVOKED')
        else if (rightsKey(viewer) !== rightsKey(before)) end('CHANGED')
      }
    }
  }

  endStreams(): void {
    for (const { isStream, end } of this.#open) if (isStream) end('CLOSING')
  }

  [Symbol.dispose](): void {
    this.#stop()
  }
}

/** Equal for viewers that see and may do the same. */
export const rightsKey = ({ grants, actor, types, targets, rootId }: Viewer): string =>
  JSON.stringify([grants, actor, types, targets, rootId])
