import { type FieldProblem, invalidInput, notFound, type RefusalOf } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { Actor } from '../../core/vocabulary.ts'
import type { TokenRow } from '../../store/tokens.ts'
import type { GraphQLContext } from '../context.ts'
import { builder } from '../schema/builder.ts'
import { dropUndefined } from '../schema/drop-undefined.ts'
import { ActorEnum } from '../schema/enums.ts'
import { answer } from '../schema/errors.ts'
import { forbiddenFailure } from '../schema/failures.ts'
import { isUuid } from '../schema/ids.ts'
import { errorsOf, resultUnion } from '../schema/result-union.ts'
import type { NewToken } from './tokens.ts'
import { RoleEnum } from './viewer.ts'

const TokenRef = builder.objectRef<TokenRow>('Token').implement({
  description: 'Identity of a caller. Its secret was shown once, when the token was created.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    name: t.exposeString('name', { description: 'Recorded as `by` of phase changes. Not unique.' }),
    role: t.expose('role', { type: RoleEnum, description: 'What the token allows.' }),
    actor: t.expose('actor', { type: ActorEnum, description: 'As whom the caller moves objects.' }),
    projects: t.stringList({
      nullable: true,
      description: 'Names of the projects that the caller may read; null: all.',
      resolve: ({ projects }) => projects && [...projects],
    }),
    types: t.stringList({
      nullable: true,
      description: 'Types of work that an agent may claim; null: all.',
      resolve: ({ types }) => types && [...types],
    }),
    targets: t.stringList({
      nullable: true,
      description: 'Targets of the work that an agent may claim; null: all.',
      resolve: ({ targets }) => targets && [...targets],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the token was created.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token expires; null: never.',
    }),
  }),
})

const CreatedTokenRef = builder
  .objectRef<{ readonly __typename: 'CreatedToken'; readonly row: TokenRow; readonly secret: string }>('CreatedToken')
  .implement({
    description: 'A new token with its secret.',
    fields: (t) => ({
      token: t.field({ type: TokenRef, description: 'The token.', resolve: ({ row }) => row }),
      secret: t.exposeString('secret', {
        description: 'Bearer token for the header Authorization. It cannot be read again.',
      }),
    }),
  })
const RevokedTokenRef = builder
  .objectRef<{ readonly __typename: 'RevokedToken'; readonly id: string }>('RevokedToken')
  .implement({
    description: 'Confirms that a token is revoked.',
    fields: (t) => ({ id: t.exposeID('id', { description: 'Id that the token had.' }) }),
  })

interface CreateToken
  extends Partial<{ readonly [Key in 'types' | 'targets' | 'projects']: readonly string[] | null }> {
  readonly name: string
  readonly role: Viewer['role']
  readonly actor?: Actor | null
  readonly expiresInMs?: number | null
}
function newTokenOf(input: CreateToken): Outcome<{ token: NewToken }, RefusalOf<'InvalidInputError'>> {
  const { name, role, actor, types = null, targets = null, projects = null, expiresInMs = null } = input
  const isAgent = role === 'AGENT'
  const problems: FieldProblem[] = []
  const problem = (path: string, message: string) => problems.push({ path: `input.${path}`, message })
  if (!/^\S(.{0,98}\S)?$/u.test(name)) problem('name', 'must have 1 to 100 characters, and no blank at either end')
  if (role === 'WORKER') problem('role', 'is for workers only, which get their tokens when they start')
  if (!isAgent && (actor ?? types ?? targets)) problem('role', 'actor, types and targets are for agents only')
  if (isAgent && (actor === 'USER' || actor === 'CONTROLLER' || actor === 'WORKER'))
    problem('actor', `an agent is never ${actor}`)
  if (actor === 'CRM_V1' || actor === 'CRM_V2') problem('actor', 'must be CRM; connectCrm says which of the two it is')
  if (expiresInMs !== null && !(expiresInMs >= 1_000 && expiresInMs <= 1e12)) {
    problem('expiresInMs', 'must be between 1000 and 1e12')
  }
  if (problems.length > 0) return { ok: false, refusal: invalidInput(problems) }
  const who = isAgent ? (actor ?? 'DEPLOYER') : 'USER'
  return { ok: true, token: { name, role, actor: who, types, targets, projects, expiresInMs } }
}

builder.mutationField('createToken', (t) =>
  t.fieldWithInput({
    type: resultUnion(
      'CreateTokenResult',
      CreatedTokenRef,
      errorsOf<typeof newTokenOf>({ InvalidInputError: true, ForbiddenError: true }),
    ),
    nullable: true,
    description: 'Creates a token, and returns its secret, which cannot be read again. Requires the role ADMIN.',
    typeOptions: { description: 'The token to create.' },
    input: {
      name: t.input.string({
        required: true,
        limit: 'tokenName',
        description:
          'Not empty, without a blank at either end. Recorded as `by` of every phase change; need not be unique.',
      }),
      role: t.input.field({ type: RoleEnum, required: true, description: 'What the token allows; not WORKER.' }),
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
        description: 'Names of the projects that the caller may read and change. Left out or null: all.',
      }),
      expiresInMs: t.input.float({
        description: 'Milliseconds until the token expires, 1,000 to 1e12. Left out or null: it never expires.',
      }),
    },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'administer',
        async () => newTokenOf(dropUndefined(input)),
        async ({ token }) => ({ __typename: 'CreatedToken' as const, ...(await context.tokens.create(token)) }),
      ),
  }),
)
async function revokeToken(
  { tokens }: GraphQLContext,
  id: string,
): Promise<Outcome<object, RefusalOf<'NotFoundError'>>> {
  const revoked = isUuid(id) && (await tokens.revoke(id))
  return revoked ? { ok: true } : { ok: false, refusal: notFound(id, 'token') }
}

builder.mutationField('revokeToken', (t) =>
  t.fieldWithInput({
    type: resultUnion(
      'RevokeTokenResult',
      RevokedTokenRef,
      errorsOf<typeof revokeToken>({ NotFoundError: true, ForbiddenError: true }),
    ),
    nullable: true,
    description: 'Revokes a token. Every server refuses it within 2 seconds. Requires the role ADMIN.',
    typeOptions: { description: 'The token to revoke.' },
    input: { id: t.input.id({ required: true, description: 'Id of the token.' }) },
    resolve: (_, { input: { id } }, context) =>
      answer(
        context,
        'administer',
        () => revokeToken(context, id),
        () => ({ __typename: 'RevokedToken' as const, id }),
      ),
  }),
)

builder.queryField('tokens', (t) =>
  t.field({
    type: [TokenRef],
    nullable: { list: true, items: false },
    description:
      'Tokens, newest first, at most 500. Requires the role ADMIN; null only together with an entry in `errors`.',
    resolve: async (_, __, { viewer, tokens }) => {
      if (viewer.role !== 'ADMIN') throw forbiddenFailure('Only an administrator may list tokens.')
      return [...(await tokens.list())]
    },
  }),
)
