import { createGraphiQLFetcher, type Fetcher } from '@graphiql/toolkit'
import { ClientError, createRenewingSocket } from 'phaseline/client'
import { freshToken, storedSignIn } from '../data/sign-in.ts'
import { storedToken } from '../data/token.ts'

/** Why the server has refused a request: the page has no token, or the server does not accept it. */
export type Refusal = 'missing' | 'invalid' | 'ended'

const SOCKET_URL = new URL('/graphql', location.href.replace(/^http/, 'ws')).href

/**
 * Queries over HTTP and subscriptions over graphql-transport-ws. Both send the token of this tab, unless the headers editor
 * has an authorization of its own. The token of a sign-in is renewed, also under open subscriptions.
 */
export function createFetcher(onRefused: (refusal: Refusal) => void): Fetcher {
  const common = {
    url: '/graphql',
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
      const response = await fetch(input, init)
      const token = storedToken()
      const sent = new Headers(init?.headers).get('authorization')
      const isOwn = sent !== null && sent !== bearer(token ?? '')
      if (response.status === 401 && !isOwn) onRefused(token ? 'invalid' : 'missing')
      return response
    },
  }
  const byToken = createGraphiQLFetcher({ ...common, subscriptionUrl: SOCKET_URL })
  const wsClient = createRenewingSocket({ url: SOCKET_URL, token: freshToken })
  const bySignIn = createGraphiQLFetcher({ ...common, wsClient })
  return async (params, options) => {
    const typed = lowercase(options?.headers)
    if (typed.authorization !== undefined || !storedSignIn())
      return await byToken(params, { ...options, headers: { ...authorizationOf(storedToken()), ...typed } })
    try {
      return await bySignIn(params, { ...options, headers: { ...authorizationOf(await freshToken()), ...typed } })
    } catch (error) {
      if (error instanceof ClientError && error.kind === 'unauthorized') onRefused('ended')
      throw error
    }
  }
}

const lowercase = (typed: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(typed).map(([name, value]) => [name.toLowerCase(), value]))

const authorizationOf = (token: string | null) => (token ? { authorization: bearer(token) } : {})
const bearer = (token: string): string => `Bearer ${token}`
