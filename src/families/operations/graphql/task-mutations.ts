import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import { GadgetJobInput } from '../../../graphql/gadget-job-input.ts'
import { given } from '../../../graphql/given.ts'
import { LabelInput } from '../../../graphql/label-input.ts'
import { resultUnion } from '../../../graphql/result-union.ts'
import { writeObject } from '../../../graphql/write-object.ts'
import { GadgetJobRef, TaskRef } from './task.ts'

const CreateTaskInput = builder.inputType('CreateTaskInput', {
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default' }),
    name: t.string({ required: true }),
    labels: t.field({ type: [LabelInput] }),
    jobs: t.field({ type: [GadgetJobInput], required: true }),
    idempotencyKey: t.string({
      description:
        'Scoped to viewer, project and mutation. Same key, same input, within a day: the object of the first call as it is now; other input: INVALID_INPUT.',
    }),
  }),
})
const CancelTaskInput = builder.inputType('CancelTaskInput', {
  fields: (t) => ({ id: t.id({ required: true }), reason: t.string() }),
})
const DeleteTaskInput = builder.inputType('DeleteTaskInput', { fields: (t) => ({ id: t.id({ required: true }) }) })
const UndoDecision = builder.enumType('UndoDecision', {
  values: {
    RETRY: { description: 'Do again what has failed: its undo, or its clean-up.' },
    GIVE_UP: { description: 'Leave it as it is: the job has failed, and its locks are released.' },
  } as const,
})
const ResolveUndoInput = builder.inputType('ResolveUndoInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Of a job in UNDO_FAILED.' }),
    decision: t.field({ type: UndoDecision, required: true }),
  }),
})

builder.mutationFields((t) => ({
  createTask: t.field({
    type: resultUnion<ObjectRow>('CreateTaskResult', TaskRef, ['InvalidInputError', 'ConflictError', 'ForbiddenError']),
    nullable: true,
    args: { input: t.arg({ type: CreateTaskInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', null, () => context.operations.createTask(context.viewer, given(input))),
  }),
  cancelTask: t.field({
    type: resultUnion<ObjectRow>('CancelTaskResult', TaskRef, ['NotFoundError', 'TransitionError', 'ForbiddenError']),
    nullable: true,
    description: 'Nothing new starts, what runs is aborted, what is being undone is undone to its end.',
    args: { input: t.arg({ type: CancelTaskInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () => context.operations.cancelTask(context.viewer, given(input))),
  }),
  deleteTask: t.field({
    type: resultUnion<ObjectRow>('DeleteTaskResult', TaskRef, ['NotFoundError', 'TransitionError', 'ForbiddenError']),
    nullable: true,
    description: 'Once it has ended. Returns it as it was.',
    args: { input: t.arg({ type: DeleteTaskInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () => context.operations.deleteTask(context.viewer, input)),
  }),
  resolveUndo: t.field({
    type: resultUnion<ObjectRow>('ResolveUndoResult', GadgetJobRef, [
      'NotFoundError',
      'TransitionError',
      'ForbiddenError',
    ]),
    nullable: true,
    description: 'What is to become of a job that could not be undone, and holds its locks.',
    args: { input: t.arg({ type: ResolveUndoInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () => context.operations.resolveUndo(context.viewer, input)),
  }),
}))
