import { builder } from '../../../graphql/schema/builder.ts'

/** The program of a worker template or a job, as the API takes it. */

/** Descriptions of fields that a worker template and a job share. */
export const WORKLOAD = {
  runtime: 'Letters, digits, . _ / and -, at most 128 characters.',
  image:
    'Image to run, 1 to 512 characters, for runtimes that have images; required there without a command. The runtime process refuses it. Left out or null: none.',
  command:
    'Program and its first arguments, run without a shell; required by the runtime process. At most 1,024 parts and 256 KiB together with args, 64 KiB each. Left out or null: none.',
  args: 'Arguments after those of the command. Left out or null: none.',
  env: 'Environment variables; at most 256, together at most 256 KiB. Left out or null: none.',
  files:
    'Files written into the working folder before the start; at most 64, together at most 512 KiB. Left out or null: none.',
  timeoutMs: 'Milliseconds, from 1, between the first claim by a runtime and its end as TIMED_OUT.',
} as const

export const EnvInput = builder.inputType('EnvInput', {
  description: 'An environment variable of a worker or a job. The runtime process prefers a secret of the same name.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description:
        'A letter or _, then letters, digits or _; at most 128 characters. Each name stands once, and none starts with PHASELINE_.',
    }),
    value: t.string({
      required: true,
      description: 'Text of at most 64 KiB. All who may read the project can read it: secrets are set with setSecret.',
    }),
  }),
})
export const FileInput = builder.inputType('FileInput', {
  description: 'A file that the runtime writes into the working folder before the start.',
  fields: (t) => ({
    path: t.string({
      required: true,
      description:
        'Path relative to the working folder, with / between its parts, without . or ..; at most 1,024 bytes. Each path stands once.',
    }),
    content: t.string({ required: true, description: 'Text of the file. All who may read the object can read it.' }),
  }),
})

export const WorkerTemplateInput = builder.inputType('WorkerTemplateInput', {
  description: 'The program that the workers of a project run.',
  fields: (t) => ({
    runtime: t.string({
      required: true,
      defaultValue: 'process',
      description: `Type of the agent that starts them. ${WORKLOAD.runtime}`,
    }),
    image: t.string({ description: WORKLOAD.image }),
    command: t.stringList({ description: WORKLOAD.command }),
    args: t.stringList({ description: WORKLOAD.args }),
    env: t.field({ type: [EnvInput], description: WORKLOAD.env }),
    files: t.field({ type: [FileInput], description: WORKLOAD.files }),
    timeoutMs: t.int({ description: `${WORKLOAD.timeoutMs} Left out or null: no limit.` }),
    workspace: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Whether jobs may work in the working folder of their worker.',
    }),
  }),
})
