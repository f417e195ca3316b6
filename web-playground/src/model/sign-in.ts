/** As `/.well-known/phaseline` offers it. */
export interface Login {
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  readonly resource: string | null
  readonly token: 'access' | 'id'
}

export interface SignIn {
  readonly login: Login
  /** What is sent to the server. */
  readonly token: string
  /** Null: the issuer gave none, so the sign-in ends with its token. */
  readonly refreshToken: string | null
  /** By the clock of this machine, in milliseconds: when the token came, and when it expires. */
  readonly since: number
  readonly expiresAt: number
}

/** A token is renewed this early, or with half of its life left, whichever is later. */
const EARLY_MS = 60_000
export const isFresh = ({ since, expiresAt }: SignIn, now: number): boolean =>
  expiresAt - now > Math.min(EARLY_MS, (expiresAt - since) / 2)

/** The issuer sends the browser back to this address. */
export const isReturn = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): boolean =>
  pathname === '/login' && /[?&](code|error)=/.test(search)

/** What people call it. */
export const hostOf = ({ issuer }: Login): string => new URL(issuer).host
