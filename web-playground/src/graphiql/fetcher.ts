import { createGraphiQLFetcher, type Fetcher } from '@graphiql/toolkit'
import { storedToken } from '../data/token.ts'

/** Why the server has refused a request: the page has no token, or the server does not accept it. */
export type Refusal = 'missing' | 'invalid'

/**
 * Queries over HTTP and subscriptions over graphql-transport-ws. Both send the token of this tab, unless the headers editor
 * has an authorization of its own.
 */
export function createFetcher(onRefused: (refusal: Refusal) => void): Fetcher {
  const send = createGraphiQLFetcher({
    url: '/graphql',
    subscriptionUrl: new URL('/graphql', location.href.replace(/^http/, 'ws')).href,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      const token = storedToken()
      const sent = new Headers(init?.headers).get('authorization')
      const isOwn = sent !== null && sent !== bearer(token ?? '')
      if (response.status === 401 && !isOwn) onRefused(token ? 'invalid' : 'missing')
      return response
    },
  })
  return (params, options) => send(params, { ...options, headers: headersOf(options?.headers) })
}

function headersOf(typed: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const token = storedToken()
  const lowercase = Object.entries(typed).map(([name, value]) => [name.toLowerCase(), value] as const)
  return { ...(token ? { authorization: bearer(token) } : {}), ...Object.fromEntries(lowercase) }
}

const bearer = (token: string): string => `Bearer ${token}`
