/** The public settings of an OpenID Connect client, with which people sign in. They contain no secret. */
export interface OfferedLogin {
  readonly issuer: string
  readonly clientId: string
  /** The client of device sign-ins, which some issuers want apart from that of browsers. */
  readonly deviceClientId: string
  readonly scope: string
  /** The resource that token requests name (RFC 8707); null: none. */
  readonly resource: string | null
  /** The issuer's token that clients send to this server. */
  readonly token: 'access' | 'id'
}

export interface Login extends OfferedLogin {
  /** Origins that the page calls for it. */
  readonly origins: readonly string[]
}
