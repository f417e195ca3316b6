import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { z } from 'zod'
import { CredentialsUnavailable } from '../core/credentials-unavailable.ts'
import type { IssuerSettings } from './access-policy.ts'

/** The end of the year 9999, after which times have another form. */
const LAST_S = 253_402_300_799

/** By OpenID Connect a subject has at most 255 ASCII characters. */
const verified = z.looseObject({
  sub: z.string().regex(/^[\x20-\x7e]{1,255}$/, 'a subject has at most 255 ASCII characters'),
  exp: z.number().max(LAST_S, 'it expires after the year 9999'),
})
export type VerifiedClaims = z.infer<typeof verified>

export type Verdict =
  | { readonly ok: true; readonly claims: VerifiedClaims }
  /** `reason` never contains the token. */
  | { readonly ok: false; readonly reason: string }

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** The issuer that a JSON Web Token names, which may be a lie; null: it is no such token. */
export function claimedIssuer(token: string): string | null {
  if (!JWT.test(token)) return null
  try {
    return decodeJwt(token).iss ?? null
  } catch {
    return null
  }
}

/** An access token of RFC 9068, or what says no more than that it is a JSON Web Token. */
const TYPES = ['jwt', 'at+jwt']

/**
 * True if the token identifies a caller. Issuers sign other tokens with the same keys, for the same audience: those of
 * a logout, and of other events (RFC 8417), which some do not name in `typ`. One that is bound to a key (`cnf`) is worth nothing
 * without its proof, which is not checked here.
 */
function isOfCaller(type: unknown, { events, cnf }: JWTPayload): boolean {
  if (events !== undefined || cnf !== undefined) return false
  return (
    type === undefined || (typeof type === 'string' && TYPES.includes(type.toLowerCase().replace(/^application\//, '')))
  )
}

/**
 * Judges type, signature, issuer, audience and times of a token.
 * @throws CredentialsUnavailable
 */
export async function verifyToken(
  token: string,
  { url, audience, algorithms, clockSkewS }: IssuerSettings,
  { keys, now }: { readonly keys: JWTVerifyGetKey; readonly now: Date },
): Promise<Verdict> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      ...{ issuer: url, audience, algorithms, clockTolerance: clockSkewS, currentDate: now },
      requiredClaims: ['sub', 'exp'],
    })
    if (!isOfCaller(protectedHeader.typ, payload))
      return { ok: false, reason: 'it is no access token and no ID token, or is bound to a key' }
    const { success, data, error } = verified.safeParse(payload)
    return success ? { ok: true, claims: data } : { ok: false, reason: error.issues[0]?.message ?? 'invalid claims' }
  } catch (error) {
    if (error instanceof CredentialsUnavailable || !(error instanceof errors.JOSEError)) throw error
    return { ok: false, reason: error.message }
  }
}
