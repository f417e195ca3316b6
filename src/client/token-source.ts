import type { ClientOptions } from './client.ts'

export interface TokenSource {
  readonly ask: (refused?: string) => Promise<string>
  /** A later call may return another token. */
  readonly renews: boolean
}

type Token = ClientOptions['token']

/** @throws TypeError when the token is a string that no header can carry */
export function tokenSource(token: Token): TokenSource {
  if (typeof token === 'function') return { ask: async (refused) => checkToken(await token(refused)), renews: true }
  checkToken(token)
  return { ask: async () => token, renews: false }
}

function checkToken(token: string | undefined): string {
  // Programs pass a variable that is not set.
  if (!token) throw new TypeError('There is no token: the option `token` is empty.')
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new TypeError('The token must be printable ASCII without blanks.')
}
