import type { OfferedLogin } from 'phaseline/sign-in'

/** The issuer sends the browser back to this address. */
export const isReturn = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): boolean =>
  pathname === '/login' && /[?&](code|error)=/.test(search)

/** The issuer's name for people. */
export const hostOf = ({ issuer }: OfferedLogin): string => new URL(issuer).host
