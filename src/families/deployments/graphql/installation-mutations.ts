import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { ReconcileModeEnum } from '../../../graphql/schema/enums.ts'
import { resultUnion } from '../../../graphql/schema/result-union.ts'
import { InstallationSpecInput } from './inputs.ts'
import { InstallationRef } from './installation.ts'

export const CreateInstallationInput = builder.inputType('CreateInstallationInput', {
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default' }),
    name: t.string({ required: true }),
    labels: t.field({ type: [LabelInput] }),
    spec: t.field({ type: InstallationSpecInput, required: true }),
    reconcile: t.boolean({ required: true, defaultValue: true, description: 'Start a reconcile job at once.' }),
    idempotencyKey: t.string({
      description:
        'Scoped to viewer, project and mutation. Same key, same input, within a day: the object of the first call as it is now; other input: INVALID_INPUT.',
    }),
  }),
})
export const UpdateInstallationInput = builder.inputType('UpdateInstallationInput', {
  fields: (t) => ({
    idempotencyKey: t.string(),
    id: t.id({ required: true }),
    spec: t.field({ type: InstallationSpecInput }),
    labels: t.field({ type: [LabelInput] }),
    ignored: t.boolean(),
    expectedGeneration: t.int(),
    reconcile: t.boolean({
      required: true,
      defaultValue: true,
      description:
        'Start a reconcile job when a spec is given, or when the installation is no longer to be ignored. A job that has not begun yet, since it waits for imports or for other roots, takes the change in instead.',
    }),
  }),
})
export const DeleteInstallationInput = builder.inputType('DeleteInstallationInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    withoutUninstall: t.boolean({ required: true, defaultValue: false }),
    force: t.boolean({ required: true, defaultValue: false }),
  }),
})
const ReconcileInstallationInput = builder.inputType('ReconcileInstallationInput', {
  fields: (t) => ({
    idempotencyKey: t.string(),
    id: t.id({ required: true }),
    mode: t.field({ type: ReconcileModeEnum, required: true, defaultValue: 'STANDARD' }),
  }),
})
const CancelInstallationInput = builder.inputType('CancelInstallationInput', {
  fields: (t) => ({ id: t.id({ required: true }), reason: t.string() }),
})

builder.mutationFields((t) => ({
  createInstallation: t.field({
    type: resultUnion('CreateInstallationResult', InstallationRef, [
      'InvalidInputError',
      'ConflictError',
      'ForbiddenError',
      'NotFoundError',
      'LimitError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: CreateInstallationInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', null, () =>
        context.deployments.createInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
  updateInstallation: t.field({
    type: resultUnion('UpdateInstallationResult', InstallationRef, [
      'InvalidInputError',
      'NotFoundError',
      'ConflictError',
      'ForbiddenError',
      'LimitError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: UpdateInstallationInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.deployments.updateInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
  deleteInstallation: t.field({
    type: resultUnion('DeleteInstallationResult', InstallationRef, [
      'NotFoundError',
      'InvalidInputError',
      'ConflictError',
      'TransitionError',
      'ForbiddenError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: DeleteInstallationInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () => context.deployments.deleteInstallation(context.viewer, input)),
  }),
}))

builder.mutationFields((t) => ({
  cancelInstallation: t.field({
    type: resultUnion('CancelInstallationResult', InstallationRef, [
      'NotFoundError',
      'TransitionError',
      'ForbiddenError',
      'InvalidInputError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: CancelInstallationInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.deployments.cancelInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
  reconcileInstallation: t.field({
    type: resultUnion('ReconcileInstallationResult', InstallationRef, [
      'NotFoundError',
      'InvalidInputError',
      'ConflictError',
      'TransitionError',
      'ForbiddenError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: ReconcileInstallationInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () =>
        context.deployments.reconcileInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
}))
