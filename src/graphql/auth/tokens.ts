import { createHash, timingSafeEqual } from 'node:crypto'
import type { Pool } from 'pg'
import type { System } from '../../core/ports/system.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { deleteToken, findToken, insertToken, listTokens, type TokenRow } from '../../store/tokens.ts'

/** Other processes refuse a revoked token within this many milliseconds; the one that revoked it, at once. */
const CACHE_MS = 2_000
const MAX_CACHED = 10_000

export type NewToken = Omit<TokenRow, 'id' | 'createdAt' | 'expiresAt'> & { readonly expiresInMs: number | null }

/** The tokens of callers. A secret is shown once, at its creation; only its hash is stored. */
export interface Tokens {
  /** The viewer of a secret; null if it is unknown, revoked or expired. */
  authenticate(secret: string): Promise<Viewer | null>
  create(token: NewToken): Promise<{ readonly row: TokenRow; readonly secret: string }>
  /** Creates a token for a given secret, unless it has one. */
  adopt(secret: string, token: NewToken): Promise<void>
  /** False if there is no such token. */
  revoke(id: string): Promise<boolean>
  list(): Promise<readonly TokenRow[]>
}

interface Cached {
  readonly viewer: Viewer | null
  readonly until: number
}

/** Secrets without a row, such as those of workers, which name their owner themselves. */
export interface SelfMadeTokens {
  recognises(secret: string): boolean
  /** Null if it is not valid, or not any more. */
  authenticate(secret: string): Promise<Viewer | null>
}

export function createTokens(pool: Pool, system: System, selfMade?: SelfMadeTokens): Tokens {
  const cache = new Map<string, Cached>()
  const rowOf = ({ expiresInMs, ...token }: NewToken): TokenRow => {
    const createdAt = system.now()
    const expiresAt = expiresInMs === null ? null : new Date(createdAt.getTime() + expiresInMs)
    return { ...token, id: system.id(), createdAt, expiresAt }
  }
  const remember = (key: string, viewer: Viewer | null, until: number): Viewer | null => {
    // Bounds the memory that a caller who tries many secrets can take.
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(key, { viewer, until })
    return viewer
  }
  return {
    async authenticate(secret) {
      const hash = hashOf(secret)
      const key = hash.toString('base64')
      const now = system.now()
      const cached = cache.get(key)
      // A clock that was set back must not keep a revoked token alive.
      const left = (cached?.until ?? 0) - now.getTime()
      if (cached && left > 0 && left <= CACHE_MS) return cached.viewer
      if (selfMade?.recognises(secret))
        return remember(key, await selfMade.authenticate(secret), now.getTime() + CACHE_MS)
      const found = await findToken(pool, hash)
      if (!found || !timingSafeEqual(found.hash, hash)) return remember(key, null, now.getTime() + CACHE_MS)
      const ends = found.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
      if (ends <= now.getTime()) return remember(key, null, now.getTime() + CACHE_MS)
      return remember(key, viewerOf(found), Math.min(ends, now.getTime() + CACHE_MS))
    },
    async create(token) {
      const secret = `pl_${Buffer.from(system.secret(32)).toString('base64url')}`
      const row = rowOf(token)
      await insertToken(pool, row, hashOf(secret))
      return { row, secret }
    },
    async adopt(secret, token) {
      await insertToken(pool, rowOf(token), hashOf(secret))
      cache.clear()
    },
    async revoke(id) {
      const revoked = await deleteToken(pool, id)
      cache.clear()
      return revoked
    },
    list: () => listTokens(pool),
  }
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

const viewerOf = ({ id, name, role, actor, projects, types, targets }: TokenRow): Viewer => ({
  tokenId: id,
  name,
  role,
  actor,
  projects,
  types,
  targets,
})
