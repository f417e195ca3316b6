import { builder } from '../schema/builder.ts'

/** Jobs of a task: of one that is created, and of one that an event is to create. */

const GadgetEnvInput = builder.inputType('GadgetEnvInput', {
  fields: (t) => ({
    name: t.string({ required: true, description: 'GADGET_…' }),
    value: t.string({ required: true, description: 'May hold expressions.' }),
  }),
})
export const GadgetJobInput = builder.inputType('GadgetJobInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    gadget: t.string({ required: true, description: 'Its name in a gadget folder.' }),
    args: t.stringList({ description: 'May hold expressions, e.g. ${jobs.find.exports.host}.' }),
    env: t.field({ type: [GadgetEnvInput] }),
    when: t.string({
      description: 'One expression: when it is false the job is skipped, and those that depend on it go on.',
    }),
    dependsOn: t.stringList({ description: 'Without any in the whole task its jobs are a sequence.' }),
  }),
})
