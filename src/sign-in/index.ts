/** Sign-ins at issuers, for the command line and the dashboard. */

export type { OfferedLogin } from '../core/ports/login.ts'
export { freshTokens, type SignInStore } from './fresh-tokens.ts'
export type { SignIn } from './sign-in.ts'

/** Loads the code that needs the OAuth library, which few sessions do. */
export const loadIssuer = () => import('./issuer.ts')
