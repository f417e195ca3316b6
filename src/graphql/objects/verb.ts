import type { GraphQLSchema } from 'graphql'
import { type JudgedVerb, judgeVerb } from '../../core/judge-verb.ts'
import type { Right } from '../../core/rights.ts'
import type { ObjectRow } from '../../core/tree.ts'
import type { Verb, VerbFlag } from '../../core/verb.ts'
import type { BlockerValue } from '../family.ts'
import { objectLoader, objectOf, pauseLoader } from '../loaders.ts'
import type { ResolverContext } from '../resolver-context.ts'
import { builder } from '../schema/builder.ts'
import { ObjectKindEnum, ObstacleEnum, PhaseEnum, WhileDeletingEnum } from '../schema/enums.ts'
import { BlockerRef, TreeObjectRef } from '../schema/refs.ts'
import { rightOf } from '../schema/rights-plugin.ts'
import { isObjectFinished } from './object-lists.ts'
import { deletionRequestedAt } from './pending-request.ts'

const VerbFlagRef = builder.objectRef<VerbFlag>('VerbFlag').implement({
  description: 'A boolean field of the input of a verb, false if left out.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the field in the input.' }),
    description: t.exposeString('description', { description: 'The effect of the flag, in one sentence.' }),
    confirmed: t.exposeBoolean('confirmed', {
      description:
        'The question in `confirm` covers the flag: a client that has asked it sets the flag. Other flags are set only when the user names them.',
    }),
  }),
})

export const VerbRef = builder.objectRef<Verb>('Verb').implement({
  description:
    "A user's action on an object in some phases, and its mutation: enough for a button or a command. The mutation judges for itself; a verb says when it is worth a try.",
  fields: (t) => ({
    machine: t.exposeString('machine', { description: 'The name of the state machine that has the verb.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'The kind of the objects that the verb is for.' }),
    name: t.exposeString('name', {
      description: 'Unique for a kind, such as `cancel` or `delete`. Verbs of this name mean the same for all kinds.',
    }),
    label: t.exposeString('label', { description: 'The text of a button.' }),
    mutation: t.exposeString('mutation', {
      description:
        'The name of the mutation. Its one argument `input` has the type of that name with a capital letter and `Input` at the end; it takes `id`, what `input` has, and the flags.',
    }),
    phases: t.field({
      type: [PhaseEnum],
      description: 'The phases of the machine that allow the verb.',
      resolve: ({ phases }) => [...phases],
    }),
    to: t.field({
      type: [PhaseEnum],
      nullable: true,
      description:
        'The verb takes a row of the machine to one of these phases, so it is there when `allowedTransitions` has such a row. Null: the verb asks the engine, and `phases` says when.',
      resolve: ({ to }) => to && [...to],
    }),
    rootsOnly: t.exposeBoolean('rootsOnly', { description: 'Only objects without a parent have the verb.' }),
    finished: t.exposeBoolean('finished', {
      nullable: true,
      description: 'Only objects whose `finished` is this have the verb; null: all.',
    }),
    inBackoff: t.exposeBoolean('inBackoff', {
      description: 'Only objects that wait for the time of their next attempt have the verb.',
    }),
    atGate: t.exposeBoolean('atGate', {
      description: 'Only objects that wait at a gate for people have the verb.',
    }),
    paused: t.exposeBoolean('paused', {
      nullable: true,
      description: 'True: only objects of a paused tree have the verb. False: only others. Null: all.',
    }),
    whileDeleting: t.expose('whileDeleting', {
      type: WhileDeletingEnum,
      description: 'Availability of the verb once the deletion of the object is requested.',
    }),
    confirm: t.exposeString('confirm', {
      nullable: true,
      description:
        'The confirmation to show first, with `{name}` for the name of the object; null: the verb is harmless.',
    }),
    danger: t.exposeBoolean('danger', { description: 'The verb cannot be taken back.' }),
    input: t.field({
      type: 'JSON',
      description: 'Fields of the input beside `id`, as an object: always sent as they are.',
      resolve: ({ input }) => input,
    }),
    flags: t.field({
      type: [VerbFlagRef],
      description: 'Flags that the input takes.',
      resolve: ({ flags }) => [...flags],
    }),
    otherwise: t.exposeString('otherwise', {
      nullable: true,
      description:
        'Why objects in other phases do not have the verb, in words that follow a count of them; null: nothing to add.',
    }),
  }),
})

interface ObjectVerb extends JudgedVerb {
  readonly object: ObjectRow
}
const ObjectVerbRef = builder.objectRef<ObjectVerb>('ObjectVerb').implement({
  description:
    'A verb of the kind of an object, judged for this object and the viewer: enough for a button, or for its absence.',
  fields: (t) => ({
    name: t.string({ description: 'Name of the verb.', resolve: ({ verb }) => verb.name }),
    label: t.string({ description: 'The text of a button.', resolve: ({ verb }) => verb.label }),
    allowed: t.boolean({
      description:
        'True if the rights of the viewer and the state machine allow it now. The mutation judges again: other objects may still be in the way.',
      resolve: ({ refusal }) => refusal === null,
    }),
    obstacle: t.field({
      type: ObstacleEnum,
      nullable: true,
      description: 'Why it is not allowed, for programs; null: it is allowed.',
      resolve: ({ refusal }) => refusal?.obstacle,
    }),
    why: t.string({
      nullable: true,
      description: 'Why it is not allowed, for people; null: it is allowed.',
      resolve: ({ refusal }) => refusal?.why,
    }),
    effect: t.string({
      nullable: true,
      description:
        'The effect of the verb on the object now, for people, such as how many deploy items a reconcile runs; null: the label says it.',
      resolve: async ({ verb, object }, _, context) =>
        (await context.kinds.familyOf(object.kind).verbEffect?.(context, object, verb)) ?? null,
    }),
  }),
})

/** All verbs of the object, judged for the viewer. */
async function verbsFor(
  object: ObjectRow,
  context: ResolverContext,
  schema: GraphQLSchema,
): Promise<readonly ObjectVerb[]> {
  const { kinds, viewer } = context
  const machines = kinds.machinesOf(object.kind)
  const isSecondary = machines.some(({ column, verbs }) => column && verbs.length > 0)
  const hasBackoffs = machines.some(({ verbs }) =>
    verbs.some(({ inBackoff, kind }) => inBackoff && kind === object.kind),
  )
  const hasGates = machines.some(({ verbs }) => verbs.some(({ atGate, kind }) => atGate && kind === object.kind))
  const [finished, secondary, requestedAt, retries, gate, pause] = await Promise.all([
    isObjectFinished(context, object),
    isSecondary ? kinds.familyOf(object.kind).secondaryPhase?.(context, object) : null,
    deletionRequestedAt(object, context),
    hasBackoffs ? kinds.familyOf(object.kind).attempts?.(context, object) : null,
    hasGates ? kinds.familyOf(object.kind).awaitsApproval?.(context, object) : null,
    pauseLoader(context).load(object.rootId),
  ])
  const now = context.system.now()
  const inBackoff = retries?.attempts.some(({ notBefore }) => notBefore && notBefore > now) ?? false
  const mutations = schema.getMutationType()?.getFields() ?? {}
  const { projectId, parentId } = object
  return machines.flatMap((machine) => {
    const phase = machine.column ? (secondary ?? null) : object.phase
    const subject = {
      projectId,
      parentId,
      deletionRequestedAt: requestedAt,
      finished,
      inBackoff,
      atGate: Boolean(gate),
      isAuthor: gate?.isAuthor ?? false,
      paused: pause !== null,
      phase,
    }
    return machine.verbs
      .filter(({ kind }) => kind === object.kind)
      .map((verb) => ({
        ...judgeVerb(verb, subject, viewer, rightTo(mutations[verb.mutation], verb), machine),
        object,
      }))
  })
}

builder.interfaceField(TreeObjectRef, 'verbs', (t) =>
  t.field({
    type: [ObjectVerbRef],
    description:
      'All verbs of the kind, in the order in which a client shows them, each with its availability to the viewer now, and the obstacle.',
    resolve: async (object, _, context, { schema }) => [...(await verbsFor(object, context, schema))],
  }),
)

builder.objectRef<BlockerValue & { readonly objectId: string }>('DecisionBlocker').implement({
  description:
    'Nothing more happens by itself: a person must decide about this object, or about another one for which it waits.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object to decide about; null once it is deleted, or if the viewer may not read it.',
      resolve: objectOf,
    }),
    verbs: t.field({
      type: [ObjectVerbRef],
      description:
        'The verbs of that object that end it, also those that take more rights than the viewer has; empty if the viewer may not read it.',
      resolve: async ({ objectId }, _, context, { schema }) => {
        const object = await objectLoader(context).load(objectId)
        const verbs = object ? await verbsFor(object, context, schema) : []
        // A pause ends nothing.
        return verbs.filter(({ verb, refusal }) => verb.paused === null && (refusal === null || refusal.fits))
      },
    }),
  }),
})

function rightTo(field: { readonly extensions: object } | undefined, { mutation }: Verb): Right {
  const right = field && rightOf(field)
  if (!right) throw new Error(`there is no mutation ${mutation}`)
  return right
}
