import { type FieldProblem, invalidInput, notFound } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { TokenRow } from '../../store/tokens.ts'
import { builder } from '../schema/builder.ts'
import { ActorEnum } from '../schema/enums.ts'
import { answer } from '../schema/errors.ts'
import { forbiddenFailure } from '../schema/failures.ts'
import { isUuid } from '../schema/ids.ts'
import { resultUnion } from '../schema/result-union.ts'
import type { NewToken } from './tokens.ts'
import { RoleEnum } from './viewer.ts'

const TokenRef = builder.objectRef<TokenRow>('Token').implement({
  description: 'Who may call. Its secret was shown once, when it was made.',
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    role: t.expose('role', { type: RoleEnum }),
    actor: t.expose('actor', { type: ActorEnum }),
    projects: t.stringList({ nullable: true, resolve: ({ projects }) => projects && [...projects] }),
    types: t.stringList({ nullable: true, resolve: ({ types }) => types && [...types] }),
    targets: t.stringList({ nullable: true, resolve: ({ targets }) => targets && [...targets] }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
  }),
})

const CreatedTokenRef = builder
  .objectRef<{ readonly __typename: 'CreatedToken'; readonly row: TokenRow; readonly secret: string }>('CreatedToken')
  .implement({
    fields: (t) => ({
      token: t.field({ type: TokenRef, resolve: ({ row }) => row }),
      secret: t.exposeString('secret', { description: 'Shown this once: keep it.' }),
    }),
  })
const RevokedTokenRef = builder
  .objectRef<{ readonly __typename: 'RevokedToken'; readonly id: string }>('RevokedToken')
  .implement({ fields: (t) => ({ id: t.exposeID('id') }) })

const CreateTokenInput = builder.inputType('CreateTokenInput', {
  fields: (t) => ({
    name: t.string({ required: true, description: 'Recorded as `by` of every phase change.' }),
    role: t.field({ type: RoleEnum, required: true }),
    actor: t.field({ type: ActorEnum, description: 'Agents only; DEPLOYER if left out.' }),
    types: t.stringList({ description: 'Agents only: what it may claim; null means all.' }),
    targets: t.stringList({ description: 'Agents only; null means all.' }),
    projects: t.stringList({ description: 'Names of the projects that it may see; null means all.' }),
    expiresInMs: t.float({ description: 'Null: it never expires.' }),
  }),
})
const RevokeTokenInput = builder.inputType('RevokeTokenInput', { fields: (t) => ({ id: t.id({ required: true }) }) })

type Input = typeof CreateTokenInput.$inferInput
function newTokenOf(input: Input): Outcome<{ token: NewToken }> {
  const { name, role, actor, types = null, targets = null, projects = null, expiresInMs = null } = input
  const isAgent = role === 'AGENT'
  const problems: FieldProblem[] = []
  const problem = (path: string, message: string) => problems.push({ path: `input.${path}`, message })
  if (!/^\S(.{0,98}\S)?$/u.test(name)) problem('name', 'must have 1 to 100 characters, blanks only between others')
  if (role === 'WORKER') problem('role', 'is for workers only: each is handed a token when it starts')
  if (!isAgent && (actor ?? types ?? targets)) problem('role', 'actor, types and targets are for agents only')
  if (isAgent && (actor === 'USER' || actor === 'CONTROLLER' || actor === 'WORKER'))
    problem('actor', `an agent is never ${actor}`)
  if (actor === 'CRM_V1' || actor === 'CRM_V2')
    problem('actor', 'is CRM: which of the two it is, is said by connectCrm')
  if (expiresInMs !== null && !(expiresInMs >= 1_000 && expiresInMs <= 1e12)) {
    problem('expiresInMs', 'must be between 1000 and 1e12')
  }
  if (problems.length > 0) return { ok: false, refusal: invalidInput(problems) }
  const who = isAgent ? (actor ?? 'DEPLOYER') : 'USER'
  return { ok: true, token: { name, role, actor: who, types, targets, projects, expiresInMs } }
}

builder.mutationFields((t) => ({
  createToken: t.field({
    type: resultUnion('CreateTokenResult', CreatedTokenRef, ['InvalidInputError', 'ForbiddenError']),
    nullable: true,
    args: { input: t.arg({ type: CreateTokenInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'administer',
        async () => newTokenOf(input),
        async ({ token }) => ({ __typename: 'CreatedToken' as const, ...(await context.tokens.create(token)) }),
      ),
  }),
  revokeToken: t.field({
    type: resultUnion('RevokeTokenResult', RevokedTokenRef, ['NotFoundError', 'ForbiddenError']),
    nullable: true,
    args: { input: t.arg({ type: RevokeTokenInput, required: true }) },
    resolve: (_, { input: { id } }, context) =>
      answer(
        context,
        'administer',
        async (): Promise<Outcome<object>> => {
          const revoked = isUuid(id) && (await context.tokens.revoke(id))
          return revoked ? { ok: true } : { ok: false, refusal: notFound(id, 'token') }
        },
        () => ({ __typename: 'RevokedToken' as const, id }),
      ),
  }),
}))

builder.queryField('tokens', (t) =>
  t.field({
    type: [TokenRef],
    nullable: { list: true, items: false },
    description: 'Administrators only; the newest first, at most 500.',
    resolve: async (_, __, { viewer, tokens }) => {
      if (viewer.role !== 'ADMIN') throw forbiddenFailure('Only an administrator may list tokens.')
      return [...(await tokens.list())]
    },
  }),
)
