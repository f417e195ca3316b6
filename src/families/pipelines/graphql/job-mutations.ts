import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import {
  ArtifactInput,
  CacheInput,
  CloneInput,
  EnvInput,
  FileInput,
  ServiceInput,
  TakeInput,
  WORKLOAD,
} from '../../../projects/graphql/workload-inputs.ts'
import { LimitRequestInput } from '../../limit-input.ts'
import { RetryPolicyInput } from '../../retry-input.ts'
import { pipelinesCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import { JobRef } from './workload.ts'

const JobSpecInput = builder.inputType('JobSpecInput', {
  description: 'The program that a job runs.',
  fields: (t) => ({
    runtime: t.string({
      limit: 'workType',
      description: `Type of the agent that starts it; that of its worker if left out or null. ${WORKLOAD.runtime}`,
    }),
    image: t.string({ limit: 'image', description: WORKLOAD.image }),
    command: t.stringList({ limit: 'argv', description: WORKLOAD.command }),
    args: t.stringList({ limit: 'argv', description: WORKLOAD.args }),
    env: t.field({ type: [EnvInput], limit: 'env', description: WORKLOAD.env }),
    files: t.field({ type: [FileInput], limit: 'files', description: WORKLOAD.files }),
    clone: t.field({
      type: CloneInput,
      description: `${WORKLOAD.clone} Refused for a job in the working folder of its worker, which has the clone of its worker.`,
    }),
    timeoutMs: t.int({
      description: `${WORKLOAD.timeoutMs} Left out or null: no limit but the end of its worker, which may also time it out.`,
    }),
    retry: t.field({
      type: RetryPolicyInput,
      description:
        'Policy for further attempts after the program has failed, could not be started, took too long for an attempt, or was lost with its runtime. Left out or null: the first failure is final.',
    }),
    workspace: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True if it works in the working folder of its worker; refused if the worker has no workspace.',
    }),
    targetLabels: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: `${WORKLOAD.targetLabels} Left out or null: those of its worker, if it has the same runtime. A job in the working folder of its worker is started where that is, whatever its labels.`,
    }),
    limits: t.field({
      type: [LimitRequestInput],
      limit: 'limitRequests',
      description: `${WORKLOAD.limits} It does not ask for what its worker holds. Refused if the project lacks one. Left out or null: none.`,
    }),
    gate: t.field({ type: 'JSON', limit: 'json', description: WORKLOAD.gate }),
    services: t.field({ type: [ServiceInput], limit: 'services', description: WORKLOAD.services }),
    caches: t.field({ type: [CacheInput], limit: 'caches', description: WORKLOAD.caches }),
    artifacts: t.field({ type: [ArtifactInput], limit: 'artifacts', description: WORKLOAD.artifacts }),
    takes: t.field({
      type: [TakeInput],
      limit: 'artifacts',
      description:
        'Artifacts of jobs of the event that it finds in its working folder. It does not start if one is missing by then. Left out or null: none.',
    }),
  }),
})

builder.mutationField('createJob', (t) =>
  t.fieldWithInput({
    right: rights.createJob,
    ...commandResult('CreateJobResult', JobRef, pipelinesCommands.createJob),
    description:
      'Creates a job in the event of the calling worker and queues it for a slot; a job that has the name is returned instead, if its spec is the same or it was inherited. Requires the token of a worker that is STARTING, RUNNING or UNKNOWN; refused for another spec under the name (ALREADY_EXISTS), and beyond 1,000 jobs in an event (LIMIT).',
    typeOptions: { description: 'A job of the event whose worker calls.' },
    input: {
      name: t.input.string({
        required: true,
        limit: 'name',
        description: 'A letter or _, then letters, digits, _ or -. Unique within the event.',
      }),
      spec: t.input.field({ type: JobSpecInput, required: true, description: 'Program that the job runs.' }),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, null, () => context.pipelines.createJob(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('cancelJob', (t) =>
  t.fieldWithInput({
    right: rights.cancelJob,
    ...commandResult('CancelJobResult', JobRef, pipelinesCommands.cancelJob),
    description:
      'Ends a job: as CANCELED if it waits for a slot, otherwise as ABORTED (see timedOut), and its process is stopped. A job that has ended is refused with a TransitionError.',
    typeOptions: { description: 'The job to cancel, and why.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the job.' }),
      reason: t.input.string({
        limit: 'reason',
        description: 'Added to the message of the phase change and to the error of the job. Left out or null: none.',
      }),
      timedOut: t.input.boolean({
        required: true,
        defaultValue: false,
        description:
          'True if a job that has started ends as TIMED_OUT instead of ABORTED. Only its worker may say so: others are refused with a TransitionError.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.pipelines.cancelJob(context.viewer, dropUndefined(input))),
  }),
)
