import { z } from 'zod'
import { isPrivateUrl } from '../core/loopback.ts'
import { describeProblem, readDocument } from '../manifest/index.ts'

/** The access policy: which issuers sign people in, and what their tokens' claims make of these people. Pure. */

/** The signature must be one that only the issuer can make. */
const ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const
const ROLES = ['VIEWER', 'EDITOR', 'AUTHOR', 'ADMIN'] as const

const MAX_ISSUERS = 20
const MAX_RULES = 1_000
const MAX_PROJECTS = 1_000
const text = z.string().min(1).max(1_000)

/** A token matches a rule by this claim. Without `claim` every token of the issuer matches. */
const rule = z
  .strictObject({
    claim: text.optional(),
    value: text.optional(),
    administrator: z.boolean().default(false),
    roles: z.array(z.enum(ROLES)).max(ROLES.length).default([]),
    /** Absent: all. */
    projects: z.array(text).min(1).max(MAX_PROJECTS).optional(),
  })
  .refine(
    ({ claim, value }) => (claim === undefined) === (value === undefined),
    'needs both claim and value, or neither',
  )
  .refine(
    ({ administrator, roles }) => administrator || roles.length > 0,
    'gives no rights: needs roles or administrator',
  )

/** The login of browsers and of the command line, which are public clients of the issuer. */
const login = z.strictObject({
  clientId: text,
  /** The client of the command line, for issuers whose clients either have pages or sign in by device. */
  deviceClientId: text.optional(),
  scope: text.default('openid profile offline_access'),
  /** For issuers that make JSON Web Tokens for a named resource only (RFC 8707). */
  resource: z.url().optional(),
  /** The issuer's token that clients send to this server. */
  token: z.enum(['access', 'id']).default('access'),
  /** Origins of its token endpoint, if that differs from the issuer's: browsers must be allowed to call it. */
  origins: z
    .array(z.url().regex(/^https?:\/\/[^/;,\s]+$/, 'must be an origin, such as https://login.example.org'))
    .max(10)
    .default([]),
})

const issuer = z.strictObject({
  // Anybody who changes an issuer's answers on their way could forge tokens.
  url: z.url().refine(isPrivateUrl, 'must start with https://'),
  audience: z.union([text.transform((one) => [one]), z.array(text).min(1).max(20)]),
  algorithms: z.array(z.enum(ALGORITHMS)).min(1).default(['RS256', 'PS256', 'ES256', 'EdDSA']),
  /** The first of these claims that a token has is the name of its principal. */
  names: z.array(text).min(1).max(10).default(['preferred_username', 'email', 'name']),
  /** Seconds by which its clock and ours may differ. */
  clockSkewS: z.int().min(0).max(300).default(30),
  login: login.optional(),
  rules: z.array(rule).max(MAX_RULES).default([]),
})

const schema = z.strictObject({
  issuers: z
    .array(issuer)
    .min(1)
    .max(MAX_ISSUERS)
    .refine((all) => new Set(all.map(({ url }) => url)).size === all.length, 'names an issuer twice'),
})

export type AccessPolicy = z.infer<typeof schema>
export type IssuerSettings = AccessPolicy['issuers'][number]
export type Rule = z.infer<typeof rule>

export type ReadPolicy =
  | { readonly ok: true; readonly policy: AccessPolicy }
  | { readonly ok: false; readonly problems: readonly string[] }

export function readPolicy(source: string, file: string): ReadPolicy {
  const read = readDocument(source, { schema, what: 'an access policy' })
  if (read.ok) return { ok: true, policy: read.value }
  return { ok: false, problems: read.problems.map((problem) => describeProblem(file, problem)) }
}
