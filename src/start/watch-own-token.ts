import type { Pool } from 'pg'
import type { Secret } from '../core/secret.ts'
import { hashOf } from '../graphql/auth/tokens.ts'
import type { Logger } from '../logger.ts'
import { every } from '../process/every.ts'
import { findToken } from '../store/tokens.ts'
import type { Writes } from '../store/write-watch.ts'

/** Milliseconds between two checks of the token. */
const CHECK_MS = 5_000

interface Watched {
  readonly pool: Pool
  readonly administrator: Secret
  readonly logger: Logger
  readonly writes: Writes
}

/**
 * Says once that this process's own PHASELINE_TOKEN is valid no more: its built-in agents cannot log in, and it could not start
 * again. Another server with another token has started on its database, or somebody has revoked it.
 */
export function watchOwnToken({ pool, administrator, logger, writes }: Watched): AsyncDisposable {
  const hash = hashOf(administrator.reveal())
  let checking: Promise<void> | null = null
  let checkedAt = Number.NEGATIVE_INFINITY
  const check = async (): Promise<void> => {
    if (writes.isQuietSince(checkedAt)) return
    const begunAt = performance.now()
    const token = await findToken(pool, hash)
    checkedAt = begunAt
    if (token && token.revokedAt === null) return
    stop()
    logger.error(
      { revokedAt: token?.revokedAt ?? null },
      'the PHASELINE_TOKEN of this process was revoked, so its built-in agents cannot work, and it cannot start again: if another server with another token has started on this database, start this one with the same token, or give it a database of its own',
    )
  }
  const stop = every(CHECK_MS, () => {
    // A database that is away says nothing of the token.
    checking ??= check()
      .catch(() => undefined)
      .finally(() => {
        checking = null
      })
  })
  return {
    async [Symbol.asyncDispose]() {
      stop()
      await checking
    },
  }
}
