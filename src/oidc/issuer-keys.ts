import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, type RemoteJWKSet } from 'jose'
import { z } from 'zod'
import { CredentialsUnavailable } from '../core/credentials-unavailable.ts'
import { isPrivateUrl } from '../core/loopback.ts'
import type { Logger } from '../logger.ts'
import { boundedFetch, FETCH_MS } from '../sign-in/bounded-fetch.ts'

/** Keys that the issuer has withdrawn are dropped after this time. */
const MAX_AGE_MS = 600_000
/** Least milliseconds between two requests to an issuer, however many unknown keys callers name. */
const COOLDOWN_MS = 2_000
/** An issuer that has not answered is not asked before, so that its callers do not all wait. */
const RETRY_MS = 2_000

const metadata = z.object({ issuer: z.string(), jwks_uri: z.url().refine(isPrivateUrl, 'must start with https://') })

/** The public keys of one issuer. While it does not answer, the keys that are known stay. */
export class IssuerKeys {
  readonly #issuer: string
  readonly #logger: Logger
  #set: RemoteJWKSet | null = null
  #opening: Promise<RemoteJWKSet> | null = null
  #freshUntil = 0
  #failedUntil = 0

  constructor(issuer: string, logger: Logger) {
    this.#issuer = issuer
    this.#logger = logger
  }

  /** @throws CredentialsUnavailable, or an error of jose for a key that the issuer does not have */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const set = this.#set ?? (await this.#open())
    this.#refresh(set)
    try {
      return await set(header, token)
    } catch (error) {
      if (isVerdict(error)) throw error
      throw this.#unavailable(error)
    }
  }

  async #open(): Promise<RemoteJWKSet> {
    if (performance.now() < this.#failedUntil) throw unavailable(this.#issuer)
    this.#opening ??= this.#load()
    try {
      return await this.#opening
    } catch (error) {
      throw error instanceof CredentialsUnavailable ? error : this.#unavailable(error)
    } finally {
      this.#opening = null
    }
  }

  async #load(): Promise<RemoteJWKSet> {
    const set = createRemoteJWKSet(await keysUrlOf(this.#issuer), {
      timeoutDuration: FETCH_MS,
      cooldownDuration: COOLDOWN_MS,
      // Keys are refreshed here, where a failure keeps the known ones.
      cacheMaxAge: Number.POSITIVE_INFINITY,
      [customFetch]: (url, options) => this.#fetch(url, options),
    })
    await set.reload()
    this.#set = set
    this.#freshUntil = performance.now() + MAX_AGE_MS
    return set
  }

  async #fetch(url: string, options: { readonly signal: AbortSignal }): Promise<Response> {
    if (performance.now() < this.#failedUntil) throw unavailable(this.#issuer)
    return await boundedFetch(url, options)
  }

  #refresh(set: RemoteJWKSet): void {
    const now = performance.now()
    if (now < this.#freshUntil || now < this.#failedUntil) return
    this.#freshUntil = now + MAX_AGE_MS
    set.reload().catch((error: unknown) => {
      this.#freshUntil = 0
      this.#unavailable(error)
    })
  }

  #unavailable(error: unknown): CredentialsUnavailable {
    if (error instanceof CredentialsUnavailable) return error
    this.#failedUntil = performance.now() + RETRY_MS
    this.#logger.warn({ issuer: this.#issuer, err: error }, 'an issuer does not tell its keys')
    return unavailable(this.#issuer, error)
  }
}

const unavailable = (issuer: string, cause?: unknown): CredentialsUnavailable =>
  new CredentialsUnavailable(`The issuer ${issuer} does not answer: try again later.`, { cause })

/** True if the token is at fault, rather than the connection to the issuer. */
const isVerdict = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSENotSupported

async function keysUrlOf(issuer: string): Promise<URL> {
  const response = await boundedFetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  if (!response.ok) throw new Error(`its configuration answers with status ${response.status}`)
  const found = metadata.parse(await response.json())
  if (found.issuer !== issuer) throw new Error('its configuration is that of another issuer')
  return new URL(found.jwks_uri)
}
