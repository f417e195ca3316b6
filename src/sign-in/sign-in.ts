import type { OfferedLogin } from '../core/ports/login.ts'

/** A sign-in at an issuer, as a client keeps it. Pure. */
export interface SignIn {
  readonly login: OfferedLogin
  /** The client that has made it, and alone may renew it. */
  readonly clientId: string
  /** The token for the server. */
  readonly token: string
  /** Null: the issuer gave none, so the sign-in ends with its token. */
  readonly refreshToken: string | null
  /** By the clock of this machine, in milliseconds: when the token came, and when it expires. */
  readonly since: number
  readonly expiresAt: number
}

/** A token is renewed this early, or with half of its life left, whichever is later. */
const EARLY_MS = 60_000

/** A token that comes from the future shows that the clock was set back. */
export const isFresh = ({ since, expiresAt }: SignIn, now: number): boolean =>
  since <= now && expiresAt - now > Math.min(EARLY_MS, (expiresAt - since) / 2)
