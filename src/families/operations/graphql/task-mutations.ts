import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { IF_UNCHANGED } from '../../../graphql/objects/object-version.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { GadgetJobInput } from '../../gadget-job-input.ts'
import { operationsCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import { GadgetJobRef, TaskRef } from './task.ts'

const UndoDecision = builder.enumType('UndoDecision', {
  description: "An operator's decision about a job in UNDO_FAILED.",
  values: {
    RETRY: { description: 'The call that failed, --undo or --abort, is made again, with the locks held.' },
    GIVE_UP: {
      description:
        'Nothing more is undone: the job ends as FAILED with the code UNDO_GIVEN_UP, and its locks are released.',
    },
  } as const,
})

builder.mutationField('createTask', (t) =>
  t.fieldWithInput({
    right: rights.create,
    ...commandResult('CreateTaskResult', TaskRef, operationsCommands.createTask),
    description:
      'Creates a task and starts it. A name that exists (ALREADY_EXISTS), cycles, and expressions on jobs that do not come before are refused.',
    typeOptions: { description: 'Name, labels and jobs of a new task.' },
    input: {
      project: t.input.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of its project.',
      }),
      name: t.input.string({
        required: true,
        limit: 'name',
        description: 'A letter or _, then letters, digits, _ or -. Unique among the tasks of the project.',
      }),
      labels: t.input.field({
        type: [LabelInput],
        limit: 'labels',
        description: 'Each key stands once. Left out or null: none.',
      }),
      jobs: t.input.field({
        type: [GadgetJobInput],
        required: true,
        limit: 'jobs',
        description: 'Jobs of the task, at least one.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, null, () => context.operations.createTask(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('retryTask', (t) =>
  t.fieldWithInput({
    right: rights.create,
    ...commandResult('RetryTaskResult', TaskRef, operationsCommands.retryTask),
    description:
      'Creates a task with the jobs of one that has ended, as they were, and starts it. Jobs that come before those that run, and are DONE, are inherited with their exports; others are left out. A task that has not ended is refused (BUSY).',
    typeOptions: { description: 'The task to run again, and what of it.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the task.' }),
      jobs: t.input.stringList({
        limit: 'chosenJobs',
        description: 'Names of the jobs that run. Left out or null: all of them.',
      }),
      unsuccessful: t.input.boolean({
        description: 'True: of these, only jobs that are not DONE. Left out or null: false.',
      }),
      name: t.input.string({
        limit: 'name',
        description: 'Name of the new task. Left out or null: that of the old one with a number, such as copy-2.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, null, () => context.operations.retryTask(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('cancelTask', (t) =>
  t.fieldWithInput({
    right: rights.cancel,
    ...commandResult('CancelTaskResult', TaskRef, operationsCommands.cancelTask),
    description:
      'Cancels a task: no more jobs start, running ones are aborted, and undos finish. A task that is neither PENDING nor RUNNING is refused with a TransitionError.',
    typeOptions: { description: 'The task to cancel, and why.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the task.' }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      reason: t.input.string({
        limit: 'reason',
        description: 'Added to the message of the phase changes. Left out or null: none.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.operations.cancelTask(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('deleteTask', (t) =>
  t.fieldWithInput({
    right: rights.delete,
    ...commandResult('DeleteTaskResult', TaskRef, operationsCommands.deleteTask),
    description:
      'Deletes a task with its jobs, and returns it as it was. A task that has not ended is refused with a TransitionError.',
    typeOptions: { description: 'The task to delete.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the task.' }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.operations.deleteTask(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('resolveUndo', (t) =>
  t.fieldWithInput({
    right: rights.resolveUndo,
    ...commandResult('ResolveUndoResult', GadgetJobRef, operationsCommands.resolveUndo),
    description:
      'Decides about a job that could not be undone or cleaned up and so holds its locks. A job that is not in UNDO_FAILED is refused with a TransitionError.',
    typeOptions: { description: 'The decision about a job that could not be undone or cleaned up.' },
    input: {
      id: t.input.id({
        required: true,

        description: 'Id of the gadget job, which must be in UNDO_FAILED.',
      }),
      decision: t.input.field({ type: UndoDecision, required: true, description: 'The decision about the job.' }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.operations.resolveUndo(context.viewer, dropUndefined(input))),
  }),
)
