/** What a client must know to sign people in, as a public client of an OpenID Connect issuer. It holds no secret. */
export interface OfferedLogin {
  readonly issuer: string
  readonly clientId: string
  /** The client of device sign-ins, which some issuers want apart from that of browsers. */
  readonly deviceClientId: string
  readonly scope: string
  /** The resource that tokens are asked for (RFC 8707); null: none is named. */
  readonly resource: string | null
  /** Which of the issuer's tokens is sent to this server. */
  readonly token: 'access' | 'id'
}

export interface Login extends OfferedLogin {
  /** Origins that the page calls for it. */
  readonly origins: readonly string[]
}
