import { APPROVERS } from '../../../core/rights.ts'
import { IF_UNCHANGED } from '../../../graphql/objects/object-version.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { deploymentsCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import type { Approval, ItemGate } from '../rules/details.ts'
import { DeployItemRef } from './deploy-item.ts'
import { itemLoader } from './loaders.ts'

const ApprovalRef = builder.objectRef<Approval>('Approval').implement({
  description: 'An approval of a gate.',
  fields: (t) => ({
    by: t.string({ description: 'Name of who has approved.', resolve: ({ by }) => by.name }),
    at: t.field({ type: 'DateTime', description: 'When it was given.', resolve: ({ at }) => new Date(at) }),
    comment: t.exposeString('comment', { nullable: true, description: 'A comment; null: there is none.' }),
  }),
})
const GateRef = builder.objectRef<ItemGate>('Gate').implement({
  description:
    'The way in which a deploy item of the type gate opens, in its running or last job: by approvals, a signal or a time.',
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
    opensAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time at which it opens; null: no time opens it.',
      resolve: ({ until }) => (until === null ? null : new Date(until)),
    }),
  }),
})
builder.objectField(DeployItemRef, 'gate', (t) =>
  t.field({
    type: GateRef,
    nullable: true,
    description: 'Its gate; null if it is none, or has not waited in any job yet.',
    resolve: async ({ id }, _, context) => (await itemLoader(context).load(id))?.gate as ItemGate | null | undefined,
  }),
)

const ID = 'Id of the deploy item, which waits at a gate.'
const COMMENT = {
  limit: 'reason',
  description: 'Shown with the decision, and in the log. Left out or null: none.',
} as const

builder.mutationField('approve', (t) =>
  t.fieldWithInput({
    right: rights.approve,
    ...commandResult('ApproveResult', DeployItemRef, deploymentsCommands.approve),
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
      writeObject(context, input.id, () => context.deployments.approve(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('reject', (t) =>
  t.fieldWithInput({
    right: rights.approve,
    ...commandResult('RejectResult', DeployItemRef, deploymentsCommands.reject),
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
      writeObject(context, input.id, () => context.deployments.reject(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('signal', (t) =>
  t.fieldWithInput({
    right: rights.signal,
    ...commandResult('SignalResult', DeployItemRef, deploymentsCommands.signal),
    description: 'Opens a gate that waits for this signal.',
    typeOptions: { description: 'The gate, and what it gets.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      name: t.input.string({ required: true, limit: 'reference', description: 'Name of the signal.' }),
      payload: t.input.field({
        type: 'JSON',
        limit: 'json',
        description: 'An object, whose keys become exports of the gate. Left out or null: it exports nothing.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.deployments.signal(context.viewer, dropUndefined(input))),
  }),
)
