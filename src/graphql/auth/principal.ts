import { projectsWith, RIGHTS, summaryOf } from '../../core/rights.ts'
import { isBuiltIn } from '../../store/built-in-principals.ts'
import { countPrincipals, listPrincipals, loadPrincipals, type PrincipalQuery } from '../../store/principals.ts'
import { countTokensOf, listTokensOf, type TokenRow } from '../../store/tokens.ts'
import { perOperation } from '../context.ts'
import { loadCounts, loadPages } from '../loaders.ts'
import { addNodeType } from '../objects/node.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { uuidCursor } from '../schema/cursors.ts'
import { expectedGeneration, IDEMPOTENCY_KEY } from '../schema/descriptions.ts'
import { dropUndefined } from '../schema/drop-undefined.ts'
import { ActorEnum } from '../schema/enums.ts'
import { answer } from '../schema/errors.ts'
import { MAX_WHOLE_LIST, pageCost, wholeList } from '../schema/limits.ts'
import { NodeRef } from '../schema/refs.ts'
import { commandResult, errorsOf } from '../schema/result-union.ts'
import { createPrincipal, deletePrincipal, updatePrincipal } from './principal-commands.ts'
import { brand, PrincipalConnection, PrincipalRef, TokenConnection, TokenRef } from './refs.ts'
import { GrantRef, ProjectRoleEnum, SummaryRoleEnum } from './roles.ts'
import { grantsOf } from './tokens.ts'

const tokensLoader = perOperation(({ pool }) =>
  loadPages<TokenRow, string>((ids, window) => listTokensOf(pool, ids, window)),
)
const tokenCountLoader = perOperation(({ pool }) => loadCounts((ids) => countTokensOf(pool, ids)))
const MAX_TOKENS_LISTED = 100

PrincipalRef.implement({
  description: 'A caller: a person, a program or an agent. It has roles in projects, and any number of tokens.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent; recorded as `byId` of phase changes.' }),
    name: t.exposeString('name', { description: 'Recorded as `by` of phase changes. Not unique.' }),
    role: t.field({
      type: SummaryRoleEnum,
      description: 'Its roles, in one word.',
      resolve: (row) => summaryOf({ actor: row.actor, grants: grantsOf(row) }),
    }),
    actor: t.expose('actor', { type: ActorEnum, description: 'As whom it moves objects.' }),
    administrator: t.exposeBoolean('administrator', {
      description: 'True if it administers the instance, which is above all roles in projects.',
    }),
    grants: t.field({
      type: [GrantRef],
      description: 'Its roles in projects. A grant ends with its project.',
      resolve: ({ grants }) => [...grants],
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
    builtIn: t.boolean({
      description: 'True if it belongs to the server itself: its tokens come from the setting PHASELINE_TOKEN.',
      resolve: ({ id }) => isBuiltIn(id),
    }),
    issuer: t.string({
      nullable: true,
      description:
        'URL of the OpenID Connect issuer that signs it in. Its rights then come from the access policy at each request: `grants` is empty. Null: it has tokens of its own.',
      resolve: ({ identity }) => identity?.issuer,
    }),
    subject: t.string({
      nullable: true,
      description: 'Its subject at the issuer; null: no issuer signs it in.',
      resolve: ({ identity }) => identity?.subject,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    generation: t.exposeInt('generation', { description: 'Counts the changes of its settings, from 1.' }),
    tokens: t.field({
      type: [TokenRef],
      deprecationReason: 'Use `tokensConnection`, which has pages.',
      description: `All that \`tokensConnection\` has, newest first. If there are more than ${MAX_TOKENS_LISTED}, the request is refused.`,
      complexity: { field: 1, multiplier: 10 },
      resolve: async ({ id }, _, context) => {
        const window = { limit: MAX_TOKENS_LISTED + 1, backward: false, after: null, before: null }
        return wholeList(await tokensLoader(context).load({ id, window }), MAX_TOKENS_LISTED, '`tokensConnection`')
      },
    }),
    tokensConnection: t.field({
      type: TokenConnection,
      description: 'Its tokens, newest first, those that are revoked among them.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: uuidCursor,
          position: ({ id: token }: TokenRow) => token,
          load: (window) => tokensLoader(context).load({ id, window }),
          count: () => tokenCountLoader(context).load(id),
        }),
    }),
  }),
})

addNodeType('Principal', RIGHTS.readPrincipals, loadPrincipals)

const GrantInputRef = builder.inputType('GrantInput', {
  description: 'A role in one project, or in all.',
  fields: (t) => ({
    role: t.field({
      type: ProjectRoleEnum,
      required: true,
      description: 'The role. AGENT is for agents, and only it.',
    }),
    project: t.string({
      limit: 'reference',
      description:
        'Name of the project. The grant is of this very project, not of a later one with the same name. Left out or null: all projects, also later ones.',
    }),
  }),
})

const DeletedPrincipalRef = builder
  .objectRef<{ readonly __typename: 'DeletedPrincipal'; readonly id: string }>('DeletedPrincipal')
  .implement({
    description: 'Confirms that a principal is deleted.',
    fields: (t) => ({ id: t.exposeID('id', { description: 'Id that the principal had; the log keeps it.' }) }),
  })

const NAME = 'Not empty, without a blank at either end, and of characters that can be seen; need not be unique.'
const GRANTS = 'Roles in projects.'

builder.mutationField('createPrincipal', (t) =>
  t.fieldWithInput({
    right: RIGHTS.createPrincipal,
    ...commandResult('CreatePrincipalResult', PrincipalRef, errorsOf<typeof createPrincipal>({})),
    description:
      'Creates a principal without a token (createPrincipalToken). Refused beyond the projects that the caller administers, and for roles that it has not there itself; VIEWER and AGENT take ADMIN, AGENT as RUNTIME takes AUTHOR.',
    typeOptions: { description: 'The principal to create.' },
    input: {
      name: t.input.string({ required: true, limit: 'tokenName', description: NAME }),
      actor: t.input.field({
        type: ActorEnum,
        required: true,
        defaultValue: 'USER',
        description: 'USER for people and programs; for agents DEPLOYER, RUNTIME, GADGET_RUNNER or CRM.',
      }),
      administrator: t.input.boolean({
        required: true,
        defaultValue: false,
        description: 'True if it administers the instance. Only an administrator may say so.',
      }),
      grants: t.input.field({
        limit: 'grants',
        type: [GrantInputRef],
        required: true,
        defaultValue: [],
        description: GRANTS,
      }),
      types: t.input.stringList({
        limit: 'workTypes',
        description: 'Types of work that an agent may claim. For agents only; left out or null: all.',
      }),
      targets: t.input.stringList({
        limit: 'targets',
        description:
          'Targets of the work that an agent may claim; for a CRM, names or ids of cloudlets. For agents only; left out or null: all.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      answer(createPrincipal(context, dropUndefined(input)), ({ principal }) => brand(principal)),
  }),
)

builder.mutationField('updatePrincipal', (t) =>
  t.fieldWithInput({
    right: RIGHTS.updatePrincipal,
    ...commandResult(
      'UpdatePrincipalResult',
      PrincipalRef,
      errorsOf<typeof updatePrincipal>({ NotFoundError: true, ConflictError: true }),
    ),
    description:
      'Changes a principal. Every server judges by the new rights within 2 seconds; streams that were opened before end within 5 more, so that clients open them anew. Refused beyond the projects that the caller administers, and for principals of the server itself.',
    typeOptions: { description: 'Changes of a principal. A field that is left out stays as it is.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the principal.' }),
      name: t.input.string({ limit: 'tokenName', description: `${NAME} Null: it stays.` }),
      administrator: t.input.boolean({ description: 'True if it administers the instance. Null: it stays.' }),
      grants: t.input.field({
        limit: 'grants',
        type: [GrantInputRef],
        description: `${GRANTS} They replace all it has. Null: they stay.`,
      }),
      types: t.input.stringList({
        limit: 'workTypes',
        description: 'Types of work that an agent may claim; null: all.',
      }),
      targets: t.input.stringList({
        limit: 'targets',
        description: 'Targets of the work that an agent may claim; null: all.',
      }),
      expectedGeneration: t.input.int({ description: expectedGeneration('the principal') }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      answer(updatePrincipal(context, dropUndefined(input)), ({ principal }) => brand(principal)),
  }),
)

builder.mutationField('deletePrincipal', (t) =>
  t.fieldWithInput({
    right: RIGHTS.deletePrincipal,
    ...commandResult(
      'DeletePrincipalResult',
      DeletedPrincipalRef,
      errorsOf<typeof deletePrincipal>({ NotFoundError: true }),
    ),
    description:
      'Deletes a principal and revokes its tokens. The log keeps its name and id. Refused for principals of the server itself. Only an administrator of the instance deletes one that an issuer signs in, since its rights are not stored; others do not find it.',
    typeOptions: { description: 'The principal to delete.' },
    input: { id: t.input.id({ required: true, description: 'Id of the principal.' }) },
    resolve: (_, { input: { id } }, context) =>
      answer(deletePrincipal(context, id), () => ({ __typename: 'DeletedPrincipal' as const, id })),
  }),
)

const PrincipalFilter = builder.inputType('PrincipalFilter', {
  description: 'Principals for which every given field holds. A field that is left out or null holds for all.',
  fields: (t) => ({
    nameContains: t.string({
      limit: 'search',
      description: 'Text that the name must contain, without regard to case.',
    }),
    actor: t.field({ type: ActorEnum, description: 'As whom they move objects.' }),
    administrator: t.boolean({ description: 'True if they administer the instance.' }),
  }),
})

builder.queryField('principalsConnection', (t) =>
  t.field({
    right: RIGHTS.readPrincipals,
    type: PrincipalConnection,
    nullable: true,
    description:
      'Principals, newest first: all of them, or those that have grants only in projects that the caller administers. Null only together with an entry in `errors`.',
    args: {
      filter: t.arg({ type: PrincipalFilter, description: 'Selects principals. Left out or null: all.' }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: (_, { filter, ...args }, { viewer, pool }) => {
      const query: PrincipalQuery = { ...filter, projects: projectsWith(viewer, RIGHTS.readPrincipals) }
      return connect(args, {
        cursor: uuidCursor,
        position: (principal) => principal.id,
        load: async (window) => (await listPrincipals(pool, query, window)).map(brand),
        count: () => countPrincipals(pool, query),
      })
    },
  }),
)

builder.queryField('principals', (t) =>
  t.field({
    right: RIGHTS.readPrincipals,
    type: [PrincipalRef],
    nullable: { list: true, items: false },
    deprecationReason: 'Use `principalsConnection`, which has pages.',
    description: `All that \`principalsConnection\` has, newest first. Null only together with an entry in \`errors\`, which refuses the request where there are more than ${MAX_WHOLE_LIST.toLocaleString('en')}.`,
    resolve: async (_, __, { viewer, pool }) => {
      const window = { limit: MAX_WHOLE_LIST + 1, backward: false, after: null, before: null }
      const rows = await listPrincipals(pool, { projects: projectsWith(viewer, RIGHTS.readPrincipals) }, window)
      return wholeList(rows.map(brand), MAX_WHOLE_LIST, '`principalsConnection`')
    },
  }),
)
