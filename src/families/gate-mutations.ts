import type { ObjectRef } from '@pothos/core'
import { withoutQuery } from '../core/http-url.ts'
import { APPROVERS, RIGHTS } from '../core/rights.ts'
import type { ObjectRow } from '../core/tree.ts'
import { type GraphQLContext, perOperation } from '../graphql/context.ts'
import type { BlockerValue } from '../graphql/family.ts'
import { loadSide } from '../graphql/loaders.ts'
import { IF_UNCHANGED } from '../graphql/objects/object-version.ts'
import { writeObject } from '../graphql/objects/write-object.ts'
import { builder, type Types } from '../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../graphql/schema/descriptions.ts'
import { dropUndefined } from '../graphql/schema/drop-undefined.ts'
import { BlockerRef } from '../graphql/schema/refs.ts'
import { commandResult } from '../graphql/schema/result-union.ts'
import { loadGatePolls, type StoredPoll } from '../store/gate-polls.ts'
import type { Bound } from './command.ts'
import { type AddressAnswer, gateCommands } from './decide-gate.ts'
import type { Approval, Gate, GateBlocker } from './gate.ts'
import type { HttpOpener } from './http-gate.ts'

declare module '../graphql/context.ts' {
  interface FamilyServices {
    readonly gates: Bound<typeof gateCommands> & { openByAddress(answer: AddressAnswer): Promise<void> }
  }
}

/** With its row, if an address opens it. */
interface ShownGate extends Gate {
  readonly address: { readonly http: HttpOpener; readonly poll: StoredPoll | null } | null
}
const pollLoader = perOperation(({ pool }) => loadSide((ids) => loadGatePolls(pool, ids)))

const ApprovalRef = builder.objectRef<Approval>('Approval').implement({
  description: 'An approval of a gate.',
  fields: (t) => ({
    by: t.string({ description: 'Name of who has approved.', resolve: ({ by }) => by.name }),
    at: t.field({ type: 'DateTime', description: 'When it was given.', resolve: ({ at }) => new Date(at) }),
    comment: t.exposeString('comment', { nullable: true, description: 'A comment; null: there is none.' }),
  }),
})
const GateAddressRef = builder.objectRef<NonNullable<ShownGate['address']>>('GateAddress').implement({
  description: 'The address that opens a gate. It is asked until its answer fulfils the condition.',
  fields: (t) => ({
    url: t.string({
      description: 'The address, without its query.',
      resolve: ({ http }) => withoutQuery(new URL(http.url)),
    }),
    condition: t.string({
      description: 'A CEL expression over `status`, `headers` and `body`, which is true once the gate opens.',
      resolve: ({ http }) => http.until,
    }),
    answer: t.string({
      nullable: true,
      description: 'The last answer, in a sentence; null: there is none yet, or the gate has opened or ended.',
      resolve: ({ poll }) => poll?.answer,
    }),
    answeredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it came; null as `answer` is.',
      resolve: ({ poll }) => poll?.answeredAt,
    }),
    asksAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is asked next, unless the tree is paused; null: the gate has opened or ended.',
      resolve: ({ poll }) => poll?.nextAt,
    }),
  }),
})
const GateRef = builder.objectRef<ShownGate>('Gate').implement({
  description: 'The way in which a gate opens: by approvals, a signal, a time or an address.',
  fields: (t) => ({
    message: t.exposeString('message', { nullable: true, description: 'For those who decide; null: nothing.' }),
    approvalsNeeded: t.int({
      nullable: true,
      description: 'Approvals that it takes; null: people do not open it.',
      resolve: ({ approval }) => approval?.count,
    }),
    role: t.string({
      nullable: true,
      description: `The role that an approval takes in the project; null: any of ${APPROVERS.join(', ')}.`,
      resolve: ({ approval }) => approval?.role,
    }),
    approvals: t.field({
      type: [ApprovalRef],
      description: 'The approvals. One of a principal that has lost the right since does not count.',
      resolve: ({ approvals }) => [...approvals],
    }),
    signal: t.exposeString('signal', { nullable: true, description: 'Name of the signal; null: none opens it.' }),
    signalSchema: t.field({
      type: 'JSON',
      nullable: true,
      description: 'JSON Schema of the object that comes with the signal; null: any object.',
      resolve: ({ schema }) => schema,
    }),
    opensAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time at which it opens; null: no time opens it.',
      resolve: ({ until }) => (until === null ? null : new Date(until)),
    }),
    address: t.field({
      type: GateAddressRef,
      nullable: true,
      description: 'The address whose answer opens it; null: none does.',
      resolve: ({ address }) => address,
    }),
  }),
})
builder.objectRef<GateBlocker & Pick<BlockerValue, '__typename'>>('GateBlocker').implement({
  description:
    'A gate opens by a signal, at a time, or by the answer of an address. One that waits for people has a DecisionBlocker.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    signal: t.exposeString('signal', {
      nullable: true,
      description: 'Name of the signal that opens it (`signal`); null: none does.',
    }),
    opensAt: t.expose('opensAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it opens; null: no time is set.',
    }),
    asksAt: t.expose('asksAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its address is asked next; null: none opens it.',
    }),
  }),
})

/** Types of objects that may wait at a gate. Families add theirs. */
const gated: ObjectRef<Types, ObjectRow>[] = []
/** Adds the field `gate` to a type. */
export function addGate(
  ref: ObjectRef<Types, ObjectRow>,
  description: string,
  load: (context: GraphQLContext, id: string) => Promise<Gate | null>,
): void {
  gated.push(ref)
  builder.objectField(ref, 'gate', (t) =>
    t.field({
      type: GateRef,
      nullable: true,
      description,
      async resolve({ id }, _, context) {
        const gate = await load(context, id)
        const { http } = gate ?? {}
        return gate && { ...gate, address: http ? { http, poll: await pollLoader(context).load(id) } : null }
      },
    }),
  )
}

const ID = 'Id of the object that waits at a gate.'
const COMMENT = {
  limit: 'reason',
  description: 'Shown with the decision, and in the log. Left out or null: none.',
} as const

builder.mutationField('approve', (t) =>
  t.fieldWithInput({
    right: RIGHTS.approve,
    ...commandResult('ApproveResult', gated, gateCommands.approve),
    description:
      'Approves a gate. With as many approvals as it takes, of different principals that still have the right, it succeeds, and exports `approvedBy`. The author of the spec, and the requester of the job, are refused, unless the gate allows it.',
    typeOptions: { description: 'The gate that is approved.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      comment: t.input.string(COMMENT),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.gates.approve(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('reject', (t) =>
  t.fieldWithInput({
    right: RIGHTS.approve,
    ...commandResult('RejectResult', gated, gateCommands.reject),
    description:
      'Rejects a gate that waits for approvals: it fails with the code REJECTED, and its job starts nothing more.',
    typeOptions: { description: 'The gate that is rejected.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      comment: t.input.string(COMMENT),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.gates.reject(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('signal', (t) =>
  t.fieldWithInput({
    right: RIGHTS.signal,
    ...commandResult('SignalResult', gated, gateCommands.signal),
    description: 'Opens a gate that waits for this signal.',
    typeOptions: { description: 'The gate, and what it gets.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      name: t.input.string({ required: true, limit: 'reference', description: 'Name of the signal.' }),
      payload: t.input.field({
        type: 'JSON',
        limit: 'json',
        description:
          'An object, whose keys become exports of the gate. It must satisfy the schema of the gate. Left out or null: it has no keys.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.gates.signal(context.viewer, dropUndefined(input))),
  }),
)
