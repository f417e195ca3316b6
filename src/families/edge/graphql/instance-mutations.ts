import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import { given } from '../../../graphql/given.ts'
import { LabelInput } from '../../../graphql/label-input.ts'
import { resultUnion } from '../../../graphql/result-union.ts'
import { writeObject } from '../../../graphql/write-object.ts'
import { KEY } from './cloudlet-mutations.ts'
import { AppInstRef, ClusterInstRef } from './instance.ts'

const SPEC = 'An object; what is in it is the business of the CRM.'
const CREATE_ERRORS = ['InvalidInputError', 'NotFoundError', 'ConflictError', 'ForbiddenError'] as const

const CreateClusterInstInput = builder.inputType('CreateClusterInstInput', {
  fields: (t) => ({
    cloudletId: t.id({ required: true }),
    name: t.string({ required: true }),
    labels: t.field({ type: [LabelInput] }),
    spec: t.field({ type: 'JSON', required: true, description: SPEC }),
    idempotencyKey: t.string({ description: KEY }),
  }),
})
const UpdateClusterInstInput = builder.inputType('UpdateClusterInstInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    spec: t.field({ type: 'JSON', required: true, description: SPEC }),
    expectedGeneration: t.int(),
  }),
})
const DeleteClusterInstInput = builder.inputType('DeleteClusterInstInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    cascade: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Its app instances first; if one of them cannot be removed, it stays.',
    }),
  }),
})
const CancelClusterInstInput = builder.inputType('CancelClusterInstInput', {
  fields: (t) => ({ id: t.id({ required: true }), reason: t.string() }),
})

const CreateAppInstInput = builder.inputType('CreateAppInstInput', {
  fields: (t) => ({
    clusterInstId: t.id({ required: true }),
    name: t.string({ required: true }),
    labels: t.field({ type: [LabelInput] }),
    spec: t.field({ type: 'JSON', required: true, description: SPEC }),
    idempotencyKey: t.string({ description: KEY }),
  }),
})
const UpdateAppInstInput = builder.inputType('UpdateAppInstInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    spec: t.field({ type: 'JSON', required: true, description: SPEC }),
    expectedGeneration: t.int(),
  }),
})
const DeleteAppInstInput = builder.inputType('DeleteAppInstInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
  }),
})
const CancelAppInstInput = builder.inputType('CancelAppInstInput', {
  fields: (t) => ({ id: t.id({ required: true }), reason: t.string() }),
})

builder.mutationFields((t) => ({
  createClusterInst: t.field({
    type: resultUnion<ObjectRow>('CreateClusterInstResult', ClusterInstRef, CREATE_ERRORS),
    nullable: true,
    description: 'The cloudlet must be READY.',
    args: { input: t.arg({ type: CreateClusterInstInput, required: true }) },
    resolve: (_, { input: { cloudletId: parentId, ...input } }, context) =>
      writeObject(context, 'write', null, () =>
        context.edge.createInstance(context.viewer, { kind: 'CLUSTER_INST', parentId, ...given(input) }),
      ),
  }),
  updateClusterInst: t.field({
    type: resultUnion<ObjectRow>('UpdateClusterInstResult', ClusterInstRef, CREATE_ERRORS),
    nullable: true,
    description: 'When it fails the spec from before is restored.',
    args: { input: t.arg({ type: UpdateClusterInstInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.edge.updateInstance(context.viewer, { kind: 'CLUSTER_INST', ...given(input) }),
      ),
  }),
  deleteClusterInst: t.field({
    type: resultUnion<ObjectRow>('DeleteClusterInstResult', ClusterInstRef, [
      'NotFoundError',
      'ConflictError',
      'ForbiddenError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: DeleteClusterInstInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.edge.deleteInstance(context.viewer, { kind: 'CLUSTER_INST', ...given(input) }),
      ),
  }),
  cancelClusterInst: t.field({
    type: resultUnion<ObjectRow>('CancelClusterInstResult', ClusterInstRef, [
      'NotFoundError',
      'TransitionError',
      'ForbiddenError',
    ]),
    nullable: true,
    description:
      'Withdraws a request that its CRM has not acknowledged. What the CRM may have begun unseen it takes back.',
    args: { input: t.arg({ type: CancelClusterInstInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.edge.cancelInstance(context.viewer, { kind: 'CLUSTER_INST', ...given(input) }),
      ),
  }),
}))

builder.mutationFields((t) => ({
  createAppInst: t.field({
    type: resultUnion<ObjectRow>('CreateAppInstResult', AppInstRef, CREATE_ERRORS),
    nullable: true,
    description: 'The cluster instance must be READY.',
    args: { input: t.arg({ type: CreateAppInstInput, required: true }) },
    resolve: (_, { input: { clusterInstId: parentId, ...input } }, context) =>
      writeObject(context, 'write', null, () =>
        context.edge.createInstance(context.viewer, { kind: 'APP_INST', parentId, ...given(input) }),
      ),
  }),
  updateAppInst: t.field({
    type: resultUnion<ObjectRow>('UpdateAppInstResult', AppInstRef, CREATE_ERRORS),
    nullable: true,
    description: 'When it fails the spec from before is restored.',
    args: { input: t.arg({ type: UpdateAppInstInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.edge.updateInstance(context.viewer, { kind: 'APP_INST', ...given(input) }),
      ),
  }),
  deleteAppInst: t.field({
    type: resultUnion<ObjectRow>('DeleteAppInstResult', AppInstRef, [
      'NotFoundError',
      'ConflictError',
      'ForbiddenError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: DeleteAppInstInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.edge.deleteInstance(context.viewer, { kind: 'APP_INST', cascade: false, ...input }),
      ),
  }),
  cancelAppInst: t.field({
    type: resultUnion<ObjectRow>('CancelAppInstResult', AppInstRef, [
      'NotFoundError',
      'TransitionError',
      'ForbiddenError',
    ]),
    nullable: true,
    description:
      'Withdraws a request that its CRM has not acknowledged. What the CRM may have begun unseen it takes back.',
    args: { input: t.arg({ type: CancelAppInstInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.edge.cancelInstance(context.viewer, { kind: 'APP_INST', ...given(input) }),
      ),
  }),
}))
