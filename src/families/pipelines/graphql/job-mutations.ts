import { builder } from '../../../graphql/builder.ts'
import { given } from '../../../graphql/given.ts'
import { resultUnion } from '../../../graphql/result-union.ts'
import { writeObject } from '../../../graphql/write-object.ts'
import { JobRef } from './workload.ts'
import { EnvInput, FileInput } from './workload-inputs.ts'

const JobSpecInput = builder.inputType('JobSpecInput', {
  description: 'What a job runs.',
  fields: (t) => ({
    runtime: t.string({ description: 'The type of agent that starts it; that of its worker if left out.' }),
    image: t.string({ description: 'For runtimes that have images.' }),
    command: t.stringList({ description: 'The program and what always follows it; without a shell.' }),
    args: t.stringList({ description: 'What follows the command.' }),
    env: t.field({ type: [EnvInput] }),
    files: t.field({ type: [FileInput], description: 'Written into the working folder before the start.' }),
    timeoutMs: t.int({ description: 'From its pickup; null: as long as its worker lets it.' }),
    workspace: t.boolean({ required: true, defaultValue: false, description: "Works in its worker's workspace." }),
  }),
})
const CreateJobInput = builder.inputType('CreateJobInput', {
  description: "A job of the caller's own event: the same name with the same spec is the same job.",
  fields: (t) => ({
    name: t.string({ required: true }),
    spec: t.field({ type: JobSpecInput, required: true }),
  }),
})
const CancelJobInput = builder.inputType('CancelJobInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    reason: t.string(),
    timedOut: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Workers only: the job has had its time. It ends as TIMED_OUT, if it had started.',
    }),
  }),
})

builder.mutationFields((t) => ({
  createJob: t.field({
    type: resultUnion('CreateJobResult', JobRef, [
      'InvalidInputError',
      'ConflictError',
      'ForbiddenError',
      'NotFoundError',
      'LimitError',
    ]),
    nullable: true,
    description:
      'By a worker, with the token that it was started with, while it is STARTING, RUNNING or UNKNOWN: when only its runtime is not heard of, its jobs queue.',
    args: { input: t.arg({ type: CreateJobInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'jobs', null, () => context.pipelines.createJob(context.viewer, given(input))),
  }),
  cancelJob: t.field({
    type: resultUnion('CancelJobResult', JobRef, ['NotFoundError', 'TransitionError', 'ForbiddenError']),
    nullable: true,
    description: 'By its worker, or by a user.',
    args: { input: t.arg({ type: CancelJobInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'jobs', input.id, () => context.pipelines.cancelJob(context.viewer, given(input))),
  }),
}))
