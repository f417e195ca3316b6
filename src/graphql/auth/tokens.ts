import { createHash, timingSafeEqual } from 'node:crypto'
import DataLoader from 'dataloader'
import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'
import type { System } from '../../core/ports/system.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { type Grant, projectsOf } from '../../core/rights.ts'
import type { Client } from '../../store/client.ts'
import type { PrincipalRow } from '../../store/principals.ts'
import { findTokens, insertToken, noteTokenUsed, replaceSecret, type TokenRow } from '../../store/tokens.ts'
import type { Writes } from '../../store/write-watch.ts'

/**
 * Other processes hear of a revoked token, and of changed rights, within this many milliseconds; the one that has changed
 * them, at once.
 */
const CACHE_MS = 2_000
/** So long while nothing is written: no token is revoked then, and no right changed. */
const UNWRITTEN_MS = 60_000
/** Secrets of each sort: valid ones, and others. */
const MAX_CACHED = 10_000
/** Look-ups of one statement. */
const MAX_FOUND = 200
/** The last use of a token is noted to this many milliseconds. */
const USED_MS = 60_000

export interface NewToken {
  readonly name: string
  /** Null: it never expires. */
  readonly expiresInMs: number | null
}

/** The tokens of callers. A secret is shown once, at its creation; only its hash is stored. */
export interface Tokens {
  /**
   * The viewer of a secret; null if it is unknown, revoked or expired.
   * @throws CredentialsUnavailable
   */
  authenticate(secret: string): Promise<Viewer | null>
  /** True: it was valid lately, or this server's key has signed it, whether it is valid or not. Costs one hash. */
  isKnown(secret: string): boolean
  /** Adds a token to a principal, in a transaction of the caller. */
  create(
    client: Client,
    principal: PrincipalRow,
    token: NewToken,
  ): Promise<{ readonly row: TokenRow; readonly secret: string }>
  /** Gives a token another secret, in a transaction of the caller. */
  renew(client: Client, id: string): Promise<string>
  /** Reads rights again. To be called after a change of tokens or principals is committed. */
  forget(): void
}

interface Cached {
  readonly viewer: Viewer | null
  readonly until: number
  /** Milliseconds after `until` that it is valid if nothing was written since; absent: others than the database decide. */
  readonly unwrittenMs?: number
  /** By `performance.now()`. */
  readonly readAt: number
  /** Number of changes of rights before it was read. */
  readonly since: number
}

/** Secrets without a row, such as those of workers, which name their owner themselves. */
export interface SelfMadeTokens {
  recognises(secret: string): boolean
  /**
   * Null if it is not valid, or not any more.
   * @throws CredentialsUnavailable
   */
  authenticate(secret: string): Promise<Viewer | null>
  /** True if our own key has signed it; absent: others sign them. */
  isSigned?(secret: string): boolean
}

export function createTokens(
  pool: Pool,
  system: System,
  selfMade: readonly SelfMadeTokens[] = [],
  writes?: Pick<Writes, 'isQuietSince'>,
): Tokens {
  // Apart, so that a caller who tries many secrets displaces none that is valid.
  const [valid, invalid] = [
    new LRUCache<string, Cached>({ max: MAX_CACHED }),
    new LRUCache<string, Cached>({ max: MAX_CACHED }),
  ]
  let forgotten = 0
  const remember = (key: string, viewer: Viewer | null, term: Omit<Cached, 'viewer'>) => {
    if (viewer) valid.set(key, { viewer, ...term })
    else {
      valid.delete(key)
      invalid.set(key, { viewer, ...term })
    }
    return viewer
  }
  // While one statement looks, further secrets gather for the next: many of them cost little more than one.
  let finding: Promise<unknown> = Promise.resolve()
  const found = new DataLoader(
    (hashes: readonly Buffer[]) => {
      const looking = findTokens(pool, hashes)
      finding = looking.catch(() => undefined)
      return looking
    },
    { cache: false, maxBatchSize: MAX_FOUND, batchScheduleFn: (dispatch) => void finding.then(dispatch) },
  )
  const newSecret = (): string => `pl_${Buffer.from(system.secret(32)).toString('base64url')}`
  /** Nobody waits for it. After a failure the next use is noted instead. */
  const noteUsed = ({ id, lastUsedAt }: TokenRow, at: Date): void => {
    const unlessAfter = new Date(at.getTime() - USED_MS)
    if (lastUsedAt && lastUsedAt > unlessAfter) return
    noteTokenUsed(pool, id, { at, unlessAfter }).catch(() => undefined)
  }
  return {
    async authenticate(secret) {
      const hash = hashOf(secret)
      const key = hash.toString('base64')
      const now = system.now()
      const cached = valid.get(key) ?? invalid.get(key)
      // A clock that was set back must not keep a revoked token alive.
      const left = (cached?.until ?? 0) - now.getTime()
      if (cached && cached.since === forgotten && left <= CACHE_MS) {
        const isUnwritten = () => left + (cached.unwrittenMs ?? 0) > 0 && writes?.isQuietSince(cached.readAt)
        if (left > 0 || isUnwritten()) return cached.viewer
      }
      const term = { until: now.getTime() + CACHE_MS, since: forgotten, readAt: performance.now() }
      const maker = selfMade.find((tokens) => tokens.recognises(secret))
      if (maker) {
        const viewer = await maker.authenticate(secret)
        const ends = viewer?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
        return remember(key, viewer, { ...term, until: Math.min(ends, term.until) })
      }
      const row = await found.load(hash)
      if (!row || row.revokedAt || !timingSafeEqual(row.hash, hash)) return remember(key, null, term)
      const ends = row.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
      if (ends <= now.getTime()) return remember(key, null, term)
      noteUsed(row, now)
      const until = Math.min(ends, term.until)
      return remember(key, viewerOf(row), { ...term, until, unwrittenMs: Math.min(ends - until, UNWRITTEN_MS) })
    },
    isKnown: (secret) =>
      valid.has(hashOf(secret).toString('base64')) || selfMade.some((tokens) => tokens.isSigned?.(secret) ?? false),
    async create(client, principal, { name, expiresInMs }) {
      const secret = newSecret()
      const createdAt = system.now()
      const expiresAt = expiresInMs === null ? null : new Date(createdAt.getTime() + expiresInMs)
      const token = { id: system.id(), name, createdAt, expiresAt }
      await insertToken(client, { ...token, principalId: principal.id, derivedFrom: null }, hashOf(secret))
      return { row: { ...token, lastUsedAt: null, revokedAt: null, principal }, secret }
    },
    async renew(client, id) {
      const secret = newSecret()
      await replaceSecret(client, id, hashOf(secret))
      return secret
    },
    forget() {
      forgotten += 1
    },
  }
}

export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

const ADMINISTRATOR: readonly Grant[] = [{ role: 'ADMINISTRATOR', projectId: null }]

/** The administrator of the instance has a role that no grant gives. */
export const grantsOf = ({
  administrator,
  grants,
}: Pick<PrincipalRow, 'administrator' | 'grants'>): readonly Grant[] =>
  administrator ? [...ADMINISTRATOR, ...grants] : grants

function viewerOf({ id, principal, expiresAt }: TokenRow): Viewer {
  const grants = grantsOf(principal)
  const { actor, types, targets } = principal
  return {
    principalId: principal.id,
    tokenId: id,
    name: principal.name,
    actor,
    grants,
    projects: projectsOf(grants),
    types,
    targets,
    ...(expiresAt && { expiresAt }),
  }
}
