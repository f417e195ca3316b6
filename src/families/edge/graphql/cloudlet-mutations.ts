import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import { given } from '../../../graphql/given.ts'
import { LabelInput } from '../../../graphql/label-input.ts'
import { resultUnion } from '../../../graphql/result-union.ts'
import { writeObject } from '../../../graphql/write-object.ts'
import { CloudletRef } from './cloudlet.ts'

export const KEY =
  'Scoped to viewer, project and mutation. Same key, same input, within a day: the object of the first call as it is now; other input: INVALID_INPUT.'

const CreateCloudletInput = builder.inputType('CreateCloudletInput', {
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default' }),
    name: t.string({ required: true }),
    labels: t.field({ type: [LabelInput] }),
    idempotencyKey: t.string({ description: KEY }),
  }),
})
const DeleteCloudletInput = builder.inputType('DeleteCloudletInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    cascade: t.boolean({
      required: true,
      defaultValue: false,
      description: 'With the records of all that is beneath: no CRM is there that could remove anything.',
    }),
  }),
})
const UpgradeCloudletInput = builder.inputType('UpgradeCloudletInput', {
  fields: (t) => ({ id: t.id({ required: true }), version: t.string({ required: true }) }),
})
const ResolveCloudletUpgradeInput = builder.inputType('ResolveCloudletUpgradeInput', {
  fields: (t) => ({ id: t.id({ required: true }) }),
})

const CLOUDLET_ERRORS = [
  'InvalidInputError',
  'NotFoundError',
  'ConflictError',
  'TransitionError',
  'ForbiddenError',
] as const

builder.mutationFields((t) => ({
  createCloudlet: t.field({
    type: resultUnion<ObjectRow>('CreateCloudletResult', CloudletRef, [
      'InvalidInputError',
      'ConflictError',
      'ForbiddenError',
    ]),
    nullable: true,
    description: 'A cloudlet to which a CRM is to connect (connectCrm).',
    args: { input: t.arg({ type: CreateCloudletInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', null, () => context.edge.createCloudlet(context.viewer, given(input))),
  }),
  deleteCloudlet: t.field({
    type: resultUnion<ObjectRow>('DeleteCloudletResult', CloudletRef, CLOUDLET_ERRORS),
    nullable: true,
    description: 'Once it is OFFLINE. Returns it as it was.',
    args: { input: t.arg({ type: DeleteCloudletInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () => context.edge.deleteCloudlet(context.viewer, input)),
  }),
  upgradeCloudlet: t.field({
    type: resultUnion<ObjectRow>('UpgradeCloudletResult', CloudletRef, CLOUDLET_ERRORS),
    nullable: true,
    description: 'Its CRM brings up one of this version, which takes over. Meanwhile nothing beneath can be changed.',
    args: { input: t.arg({ type: UpgradeCloudletInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () => context.edge.upgradeCloudlet(context.viewer, input)),
  }),
  resolveCloudletUpgrade: t.field({
    type: resultUnion<ObjectRow>('ResolveCloudletUpgradeResult', CloudletRef, CLOUDLET_ERRORS),
    nullable: true,
    description: 'An administrator has put right an upgrade that had failed.',
    args: { input: t.arg({ type: ResolveCloudletUpgradeInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'administer', input.id, () => context.edge.resolveCloudletUpgrade(context.viewer, input)),
  }),
}))
