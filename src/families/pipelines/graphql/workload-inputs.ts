import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { builder } from '../../../graphql/schema/builder.ts'

/** The program of a worker template or a job, as the API takes it. */

/** Descriptions of fields that a worker template and a job share. */
export const WORKLOAD = {
  runtime: 'Letters, digits, . _ / and -.',
  image:
    'Image to run, not empty, for runtimes that have images; required there without a command. The runtime process refuses it. Left out or null: none.',
  command:
    'Program and its first arguments, run without a shell; required by the runtime process. Together with args at most 1,024 parts and 256 KiB. Left out or null: none.',
  args: 'Arguments after those of the command. Left out or null: none.',
  env: 'Environment variables, together at most 256 KiB. Left out or null: none.',
  files: 'Files written into the working folder before the start, together at most 512 KiB. Left out or null: none.',
  targetLabels: 'Labels that its place must have, each with this value.',
  timeoutMs: 'Milliseconds, from 1, between the first claim by a runtime and its end as TIMED_OUT.',
} as const

export const EnvInput = builder.inputType('EnvInput', {
  description: 'An environment variable of a worker or a job. The runtime process prefers a secret of the same name.',
  fields: (t) => ({
    name: t.string({
      required: true,
      limit: 'variable',
      description: 'A letter or _, then letters, digits or _. Each name stands once, and none starts with PHASELINE_.',
    }),
    value: t.string({
      required: true,
      limit: 'argument',
      description: 'All who may read the project can read it: secrets are set with setSecret.',
    }),
  }),
})
export const FileInput = builder.inputType('FileInput', {
  description: 'A file that the runtime writes into the working folder before the start.',
  fields: (t) => ({
    path: t.string({
      required: true,
      limit: 'filePath',
      description:
        'Path relative to the working folder, with / between its parts, without . or .. in it. Each path stands once.',
    }),
    content: t.string({
      required: true,
      limit: 'fileContent',
      description: 'Text of the file. All who may read the object can read it.',
    }),
  }),
})

export const WorkerTemplateInput = builder.inputType('WorkerTemplateInput', {
  description: 'The program that the workers of a project run.',
  fields: (t) => ({
    runtime: t.string({
      required: true,
      defaultValue: 'process',
      limit: 'workType',
      description: `Type of the agent that starts them. ${WORKLOAD.runtime}`,
    }),
    image: t.string({ limit: 'image', description: WORKLOAD.image }),
    command: t.stringList({ limit: 'argv', description: WORKLOAD.command }),
    args: t.stringList({ limit: 'argv', description: WORKLOAD.args }),
    env: t.field({ type: [EnvInput], limit: 'env', description: WORKLOAD.env }),
    files: t.field({ type: [FileInput], limit: 'files', description: WORKLOAD.files }),
    timeoutMs: t.int({ description: `${WORKLOAD.timeoutMs} Left out or null: no limit.` }),
    workspace: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True if jobs may work in the working folder of their worker.',
    }),
    targetLabels: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: `${WORKLOAD.targetLabels} Left out or null: any place of the runtime.`,
    }),
  }),
})
