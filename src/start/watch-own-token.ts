import type { Pool } from 'pg'
import type { Secret } from '../core/secret.ts'
import { hashOf } from '../graphql/auth/tokens.ts'
import type { Logger } from '../logger.ts'
import { findToken } from '../store/tokens.ts'

/** Milliseconds between two checks of the token. */
const CHECK_MS = 5_000

interface Watched {
  readonly pool: Pool
  readonly administrator: Secret
  readonly logger: Logger
}

/**
 * Says once that this process's own PHASELINE_TOKEN is valid no more: its built-in agents cannot log in, and it could not start
 * again. Another server with another token has started on its database, or somebody has revoked it.
 */
export function watchOwnToken({ pool, administrator, logger }: Watched): AsyncDisposable {
  const hash = hashOf(administrator.reveal())
  let checking: Promise<void> | null = null
  const check = async (): Promise<void> => {
    const token = await findToken(pool, hash)
    if (token && token.revokedAt === null) return
    clearInterval(timer)
    logger.error(
      { revokedAt: token?.revokedAt ?? null },
      'the PHASELINE_TOKEN of this process was revoked, so its built-in agents cannot work, and it cannot start again: if another server with another token has started on this database, start this one with the same token, or give it a database of its own',
    )
  }
  const timer = setInterval(() => {
    // A database that is away says nothing of the token.
    checking ??= check()
      .catch(() => undefined)
      .finally(() => {
        checking = null
      })
  }, CHECK_MS)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await checking
    },
  }
}
