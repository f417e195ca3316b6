import { projectsWith, RIGHTS, summaryOf } from '../../core/rights.ts'
import { countTokens, listTokens, loadTokens, type TokenQuery, type TokenRow } from '../../store/tokens.ts'
import { addNodeType } from '../objects/node.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { uuidCursor } from '../schema/cursors.ts'
import { IDEMPOTENCY_KEY } from '../schema/descriptions.ts'
import { dropUndefined } from '../schema/drop-undefined.ts'
import { ActorEnum } from '../schema/enums.ts'
import { answer } from '../schema/errors.ts'
import { MAX_WHOLE_LIST, pageCost, wholeList } from '../schema/limits.ts'
import { NodeRef } from '../schema/refs.ts'
import { commandResult, errorsOf } from '../schema/result-union.ts'
import { createPrincipalToken, createToken, revokeToken } from './principal-commands.ts'
import { brand, PrincipalRef, TokenConnection, TokenRef } from './refs.ts'
import { projectNames, SummaryRoleEnum } from './roles.ts'
import { grantsOf } from './tokens.ts'

TokenRef.implement({
  description:
    'Credential of a principal. Its secret was shown once, when the token was created. A revoked token stays in the list.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    name: t.exposeString('name', { description: 'Name of the token. Not unique.' }),
    principal: t.field({
      type: PrincipalRef,
      description: "The token's principal.",
      resolve: ({ principal }) => brand(principal),
    }),
    role: t.field({
      type: SummaryRoleEnum,
      description: 'The roles of its principal, in one word.',
      resolve: ({ principal }) => summaryOf({ actor: principal.actor, grants: grantsOf(principal) }),
    }),
    actor: t.field({
      type: ActorEnum,
      description: 'As whom the caller moves objects.',
      resolve: ({ principal }) => principal.actor,
    }),
    projects: t.stringList({
      nullable: true,
      description: 'Names of the projects that the caller may read; null: all.',
      resolve: ({ principal }, _, context) => projectNames(grantsOf(principal), context),
    }),
    types: t.stringList({
      nullable: true,
      description: 'Types of work that an agent may claim; null: all.',
      resolve: ({ principal: { types } }) => types && [...types],
    }),
    targets: t.stringList({
      nullable: true,
      description: 'Targets of the work that an agent may claim; null: all.',
      resolve: ({ principal: { targets } }) => targets && [...targets],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the token was created.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token expires; null: never.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token was last used, to two minutes; null: never.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token was revoked; null: it is not.',
    }),
  }),
})

addNodeType('Token', RIGHTS.readPrincipals, loadTokens)

interface CreatedToken {
  readonly __typename: 'CreatedToken'
  readonly row: TokenRow
  readonly secret: string
}
const CreatedTokenRef = builder.objectRef<CreatedToken>('CreatedToken').implement({
  description: 'A new token with its secret.',
  fields: (t) => ({
    token: t.field({ type: TokenRef, description: 'The token.', resolve: ({ row }) => row }),
    secret: t.exposeString('secret', {
      description: 'Bearer token for the header Authorization. It cannot be read again.',
    }),
  }),
})
const created = ({ row, secret }: Omit<CreatedToken, '__typename'>): CreatedToken => ({
  __typename: 'CreatedToken',
  row,
  secret,
})
const RevokedTokenRef = builder
  .objectRef<{ readonly __typename: 'RevokedToken'; readonly id: string }>('RevokedToken')
  .implement({
    description: 'Confirms that a token is revoked.',
    fields: (t) => ({ id: t.exposeID('id', { description: 'Id of the token.' }) }),
  })

const SECRET =
  'A repetition replaces the secret, as long as nobody has used the one before: it answers a request whose answer was lost. It is refused once the token is in use.'
const EXPIRES = 'Milliseconds until the token expires, 1,000 to 1e12. Left out or null: it never expires.'

builder.mutationField('createToken', (t) =>
  t.fieldWithInput({
    right: RIGHTS.createToken,
    ...commandResult('CreateTokenResult', CreatedTokenRef, errorsOf<typeof createToken>({})),
    description:
      'Creates a principal with a token, and returns the secret, which cannot be read again. Refused for more projects than those that the caller administers, and for roles that it has not there itself. For a principal that there is already, use createPrincipalToken.',
    typeOptions: { description: 'The principal and its token to create.' },
    input: {
      name: t.input.string({
        required: true,
        limit: 'tokenName',
        description:
          'Name of principal and token, not empty, without a blank at either end, of characters that can be seen. Recorded as `by` of every phase change; need not be unique.',
      }),
      role: t.input.field({
        type: SummaryRoleEnum,
        required: true,
        description:
          'ADMIN without projects administers the instance; with projects it is ADMIN, AUTHOR and EDITOR of these. USER is EDITOR and AUTHOR, READER is VIEWER, AGENT is AGENT, MONITOR is MONITOR, without projects. Not WORKER.',
      }),
      actor: t.input.field({
        type: ActorEnum,
        description:
          'For agents only: DEPLOYER, RUNTIME, GADGET_RUNNER or CRM. Left out or null: DEPLOYER for an agent, USER for others.',
      }),
      types: t.input.stringList({
        limit: 'workTypes',
        description: 'Types of work that an agent may claim. For agents only; left out or null: all.',
      }),
      targets: t.input.stringList({
        limit: 'targets',
        description: 'Targets of the work that an agent may claim. For agents only; left out or null: all.',
      }),
      projects: t.input.stringList({
        limit: 'projects',
        description:
          'Names of projects in which the caller has the role. The grants are of these very projects, not of later ones with the same names. Left out or null: all.',
      }),
      expiresInMs: t.input.float({ description: EXPIRES }),
      idempotencyKey: t.input.string({ ...IDEMPOTENCY_KEY, description: `${IDEMPOTENCY_KEY.description} ${SECRET}` }),
    },
    resolve: (_, { input }, context) => answer(createToken(context, dropUndefined(input)), created),
  }),
)

builder.mutationField('createPrincipalToken', (t) =>
  t.fieldWithInput({
    right: RIGHTS.createToken,
    ...commandResult(
      'CreatePrincipalTokenResult',
      CreatedTokenRef,
      errorsOf<typeof createPrincipalToken>({ NotFoundError: true }),
    ),
    description:
      'Creates a further token of a principal, and returns its secret, which cannot be read again. All tokens of a principal share its idempotency keys and the work that it holds, so that one can replace another. Refused for a principal with roles that the caller has not itself.',
    typeOptions: { description: 'The token to create.' },
    input: {
      principalId: t.input.id({ required: true, description: 'Id of the principal.' }),
      name: t.input.string({
        required: true,
        limit: 'tokenName',
        description:
          'Name of the token, not empty, without a blank at either end, of characters that can be seen; need not be unique.',
      }),
      expiresInMs: t.input.float({ description: EXPIRES }),
      idempotencyKey: t.input.string({ ...IDEMPOTENCY_KEY, description: `${IDEMPOTENCY_KEY.description} ${SECRET}` }),
    },
    resolve: (_, { input }, context) => answer(createPrincipalToken(context, dropUndefined(input)), created),
  }),
)

builder.mutationField('revokeToken', (t) =>
  t.fieldWithInput({
    right: RIGHTS.revokeToken,
    ...commandResult('RevokeTokenResult', RevokedTokenRef, errorsOf<typeof revokeToken>({ NotFoundError: true })),
    description:
      'Revokes a token. Every server refuses it within 2 seconds, and ends its streams within 5 more. The administrator of a project revokes tokens of principals that have grants in projects of the administrator only.',
    typeOptions: { description: 'The token to revoke.' },
    input: { id: t.input.id({ required: true, description: 'Id of the token.' }) },
    resolve: (_, { input: { id } }, context) =>
      answer(revokeToken(context, id), () => ({ __typename: 'RevokedToken' as const, id })),
  }),
)

const TokenFilter = builder.inputType('TokenFilter', {
  description: 'Tokens for which every given field holds. A field that is left out or null holds for all.',
  fields: (t) => ({
    name: t.string({ limit: 'reference', description: 'The name.' }),
    nameContains: t.string({
      limit: 'search',
      description: 'Text that the name must contain, without regard to case.',
    }),
    valid: t.boolean({ description: 'True if they work now: they are neither revoked nor expired.' }),
    administrator: t.boolean({ description: 'True if their principals administer the instance.' }),
  }),
})

builder.queryField('tokensConnection', (t) =>
  t.field({
    right: RIGHTS.readPrincipals,
    type: TokenConnection,
    nullable: true,
    description:
      'Tokens, newest first: all of them, or those of principals that have grants only in projects that the caller administers. Null only together with an entry in `errors`.',
    args: {
      filter: t.arg({
        type: TokenFilter,
        description: 'Selects tokens. Left out or null: all, revoked ones among them.',
      }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: (_, { filter, ...args }, { viewer, pool }) => {
      const query: TokenQuery = { ...filter, projects: projectsWith(viewer, RIGHTS.readPrincipals) }
      return connect(args, {
        cursor: uuidCursor,
        position: ({ id }: TokenRow) => id,
        load: (window) => listTokens(pool, query, window),
        count: () => countTokens(pool, query),
      })
    },
  }),
)

builder.queryField('tokens', (t) =>
  t.field({
    right: RIGHTS.readPrincipals,
    type: [TokenRef],
    nullable: { list: true, items: false },
    deprecationReason: 'Use `tokensConnection`, which has pages.',
    description: `All that \`tokensConnection\` has, newest first. Null only together with an entry in \`errors\`, which refuses the request where there are more than ${MAX_WHOLE_LIST.toLocaleString('en')}.`,
    resolve: async (_, __, { viewer, pool }) => {
      const window = { limit: MAX_WHOLE_LIST + 1, backward: false, after: null, before: null }
      const rows = await listTokens(pool, { projects: projectsWith(viewer, RIGHTS.readPrincipals) }, window)
      return wholeList(rows, MAX_WHOLE_LIST, '`tokensConnection`')
    },
  }),
)
