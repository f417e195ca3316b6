import { builder } from '../../../graphql/builder.ts'

/** What runs, as the API takes it: in a project's worker template and in a job. */

export const EnvInput = builder.inputType('EnvInput', {
  fields: (t) => ({
    name: t.string({ required: true, description: 'Letters, digits and _; it must not start with PHASELINE_.' }),
    value: t.string({
      required: true,
      description: 'Can be read by whoever sees the project; setSecret is for secrets.',
    }),
  }),
})
export const FileInput = builder.inputType('FileInput', {
  fields: (t) => ({
    path: t.string({ required: true, description: 'Below the working folder, with / between its parts.' }),
    content: t.string({ required: true }),
  }),
})

export const WorkerTemplateInput = builder.inputType('WorkerTemplateInput', {
  description: 'What the workers of a project run.',
  fields: (t) => ({
    runtime: t.string({ required: true, defaultValue: 'process', description: 'The type of agent that starts them.' }),
    image: t.string({ description: 'For runtimes that have images.' }),
    command: t.stringList({ description: 'The program and what always follows it; without a shell.' }),
    args: t.stringList({ description: 'What follows the command.' }),
    env: t.field({ type: [EnvInput] }),
    files: t.field({ type: [FileInput], description: 'Written into the working folder before the start.' }),
    timeoutMs: t.int({ description: 'From its pickup; null: it may take as long as it likes.' }),
    workspace: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Whether a worker has a folder that its jobs can work in too.',
    }),
  }),
})
