import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import Provider, { type Configuration } from 'oidc-provider'
import { SharedStorage } from './issuer-storage.ts'

/** A real OpenID Connect issuer on loopback, whose people sign in without a page, as `account`. */
export interface Issuer extends AsyncDisposable {
  readonly url: string
  /** The account that signs in next. */
  account: string
  readonly groups: Map<string, readonly string[]>
  /** Seconds for which new access tokens are valid. */
  tokenTtlS: number
  /** Tokens that are given are sent once this has ended. */
  beforeTokens: (() => Promise<void>) | null
  /** Seconds for which codes of device sign-ins are valid. */
  codeTtlS: number
  /** Further fields of the answer with such a code, e.g. `interval`. */
  codeAnswer: Readonly<Record<string, unknown>>
  /** So many next requests for tokens are answered with slow_down. */
  slowDowns: number
  /** The time of the last such answer, by `performance.now()`. */
  slowedAt: number | null
  /** How many requests each of its paths has had. */
  readonly requests: ReadonlyMap<string, number>
  /** An access token from the token endpoint, by client credentials, of one of the MACHINES. */
  token(machine: string): Promise<string>
  /** A token with any claims, signed by its key. */
  sign(claims: JWTPayload, header?: { kid?: string; typ?: string }): Promise<string>
  /** Sends browsers back to this address from now on. */
  allowRedirect(uri: string): void
  /** Signs with a new key from now on, and forgets the one before. */
  rotateKeys(): Promise<void>
  /** Does not answer any more, until it is called again. */
  stop(): Promise<void>
  start(): Promise<void>
}

export const AUDIENCE = 'https://phaseline.test/api'
export const CLIENT_ID = 'phaseline'
const MACHINES = ['ada', 'bob', 'eve']
const SECRET = 'a-secret-of-a-machine-for-tests'

export async function startIssuer(): Promise<Issuer> {
  const requests = new Map<string, number>()
  let handle: (...args: Parameters<RequestListener>) => unknown = (_, response) => response.writeHead(503).end()
  const inFlight = new Set<Promise<unknown>>()
  const http = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '/'
    requests.set(path, (requests.get(path) ?? 0) + 1)
    const answered = once(response, 'close').finally(() => inFlight.delete(answered))
    inFlight.add(answered)
    void handle(request, response)
  })
  const listen = (port: number) => new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = http.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const storage = new SharedStorage()
  let key = await newKey()
  const redirectUris: string[] = []
  const serve = (): void => {
    const provider = new Provider(url, configuration(issuer, { jwk: key.jwk, storage, redirectUris }))
    provider.use((context, next) => answerDevices(context, next, issuer))
    const oauth = provider.callback()
    handle = async (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return oauth(request, response)
      await provider.interactionFinished(request, response, { login: { accountId: issuer.account } })
    }
  }
  // Running requests are answered: otherwise a refresh token could be used up without its successor.
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => http.close(() => resolve()))
    await Promise.all(inFlight)
    http.closeAllConnections()
    await closed
  }
  const issuer: Issuer = {
    url,
    account: 'ada',
    groups: new Map(),
    tokenTtlS: 60,
    beforeTokens: null,
    codeTtlS: 60,
    codeAnswer: { interval: 1 },
    slowDowns: 0,
    slowedAt: null,
    requests,
    async token(machine) {
      const response = await fetch(`${url}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${machine}:${SECRET}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
      const { access_token: token } = (await response.json()) as { access_token?: string }
      if (!token) throw new Error(`the issuer gave ${machine} no token`)
      return token
    },
    sign: (claims, { kid = key.jwk.kid, typ } = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', ...(kid && { kid }), ...(typ && { typ }) })
        .sign(key.privateKey),
    allowRedirect(uri) {
      redirectUris.push(uri)
      serve()
    },
    async rotateKeys() {
      key = await newKey()
      serve()
    },
    stop,
    start: () => listen(port),
    [Symbol.asyncDispose]: stop,
  }
  serve()
  return issuer
}

interface Answered {
  readonly path: string
  status: number
  body: unknown
}

/** Adds behaviour that the library lacks: it names no interval, never demands a slower one, and is never slow itself. */
async function answerDevices(context: Answered, next: () => Promise<unknown>, issuer: Issuer): Promise<void> {
  if (context.path === '/token' && issuer.slowDowns > 0) {
    issuer.slowDowns -= 1
    issuer.slowedAt = performance.now()
    context.status = 400
    context.body = { error: 'slow_down' }
    return
  }
  await next()
  if (context.path === '/token' && context.status === 200) await issuer.beforeTokens?.()
  if (context.path === '/device/auth' && context.status === 200)
    Object.assign(context.body as object, issuer.codeAnswer)
}

async function newKey(): Promise<{ readonly jwk: JWK; readonly privateKey: CryptoKey }> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: 'RS256', use: 'sig' } }
}

interface Parts {
  readonly jwk: JWK
  readonly storage: SharedStorage
  readonly redirectUris: string[]
}

const configuration = (issuer: Issuer, { jwk, storage, redirectUris }: Parts): Configuration => ({
  jwks: { keys: [jwk as never] },
  adapter: (model) => storage.adapterOf(model),
  clients: [
    {
      client_id: CLIENT_ID,
      token_endpoint_auth_method: 'none',
      redirect_uris: redirectUris,
      response_types: redirectUris.length > 0 ? ['code'] : [],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    },
    ...MACHINES.map((client_id) => ({
      client_id,
      client_secret: SECRET,
      redirect_uris: [],
      response_types: [],
      grant_types: ['client_credentials'],
    })),
  ],
  clientBasedCORS: () => true,
  // A browser waits there for a login.
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  cookies: { keys: ['cookies-of-a-test'] },
  issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, preferred_username: accountId }) }),
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId })
    grant.addOIDCScope('openid profile offline_access')
    grant.addResourceScope(AUDIENCE, 'api')
    await grant.save()
    return grant
  },
  async extraTokenClaims(_, token) {
    const account = 'accountId' in token ? token.accountId : token.clientId
    return { preferred_username: account, groups: issuer.groups.get(String(account)) ?? [] }
  },
  ttl: {
    ClientCredentials: () => issuer.tokenTtlS,
    ...{
      AccessToken: () => issuer.tokenTtlS,
      DeviceCode: () => issuer.codeTtlS,
      Grant: 3_600,
      IdToken: 60,
      Interaction: 60,
      RefreshToken: 3_600,
      Session: 3_600,
    },
  },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => AUDIENCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'api',
        audience: AUDIENCE,
        accessTokenTTL: issuer.tokenTtlS,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
})
