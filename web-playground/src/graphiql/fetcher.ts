import { createGraphiQLFetcher, type Fetcher } from '@graphiql/toolkit'
import { ClientError, createRenewingSocket } from 'phaseline/client'
import { storedAccess } from '../data/access.ts'
import { fetchWith } from '../data/page-key.ts'

/** Why the server has refused a request: nobody is signed in, or the server does not accept the sign-in. */
export type Refusal = 'missing' | 'ended'

const SOCKET_URL = new URL('/graphql', location.href.replace(/^http/, 'ws')).href

/**
 * Queries over HTTP and subscriptions over graphql-transport-ws. Both use the sign-in of this browser, unless the headers editor
 * has an authorization of its own. The token of a tab that has signed in at an issuer is renewed, also under open subscriptions.
 */
export function createFetcher(onRefused: (refusal: Refusal) => void): Fetcher {
  const byHand = createGraphiQLFetcher({ url: '/graphql', subscriptionUrl: SOCKET_URL })
  const refused = (): void => onRefused(storedAccess() ? 'ended' : 'missing')
  const bySignIn = createGraphiQLFetcher({
    url: '/graphql',
    fetch: async (input, init) => {
      const response = await fetchWith(storedAccess()?.isSignIn === true)(input, init)
      if (response.status === 401) refused()
      return response
    },
    wsClient: createRenewingSocket({ url: SOCKET_URL, token: presentToken }),
  })
  return async (params, options) => {
    const typed = lowercase(options?.headers)
    if (typed.authorization !== undefined) return await byHand(params, { ...options, headers: typed })
    try {
      const authorization = `Bearer ${await presentToken()}`
      return await bySignIn(params, { ...options, headers: { authorization, ...typed } })
    } catch (error) {
      if (error instanceof ClientError && error.kind === 'unauthorized') refused()
      throw error
    }
  }
}

/** @throws ClientError, `unauthorized` when only a sign-in helps */
async function presentToken(): Promise<string> {
  const access = storedAccess()
  if (!access) throw new ClientError('unauthorized', 'Nobody is signed in.')
  return typeof access.token === 'function' ? await access.token() : access.token
}

const lowercase = (typed: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(typed).map(([name, value]) => [name.toLowerCase(), value]))
