import { builder } from '../graphql/schema/builder.ts'
import { RetryPolicyInput } from './retry-input.ts'
import { GATE_TEXT } from './start-gate.ts'

/** Jobs of a task that a user creates, and of one that a subscription creates for an event. */

const GadgetEnvInput = builder.inputType('GadgetEnvInput', {
  description: 'An environment variable of a gadget.',
  fields: (t) => ({
    name: t.string({ required: true, limit: 'variable', description: 'Name, which starts with GADGET_.' }),
    value: t.string({ required: true, limit: 'gadgetText', description: 'Text, which may hold expressions `${…}`.' }),
  }),
})
export const GadgetJobInput = builder.inputType('GadgetJobInput', {
  description: 'A job of a task: one run of a gadget.',
  fields: (t) => ({
    name: t.string({
      required: true,
      limit: 'name',
      description: 'A letter or _, then letters, digits, _ or -. Unique among the jobs of the task.',
    }),
    gadget: t.string({
      required: true,
      limit: 'gadget',
      description: 'Name of the gadget in the folder of the gadget runner.',
    }),
    args: t.stringList({
      limit: 'gadgetArgs',
      description: 'Arguments, which may hold expressions, e.g. `${jobs.find.exports.host}`. Left out or null: none.',
    }),
    env: t.field({
      type: [GadgetEnvInput],
      limit: 'gadgetEnv',
      description: 'Environment variables. Left out or null: none.',
    }),
    when: t.string({
      limit: 'gadgetText',
      description:
        'One expression. If it is false, the job is skipped, and jobs that depend on it run. Left out or null: the job runs.',
    }),
    retry: t.field({
      type: RetryPolicyInput,
      description:
        'Policy for further attempts after the gadget has failed and was undone; it has no `attemptTimeoutMs`. Left out or null: the first failure is final.',
    }),
    gate: t.field({
      type: 'JSON',
      limit: 'json',
      description: `Gate at which it waits when its turn comes, before it declares its locks. ${GATE_TEXT} Left out or null: none.`,
    }),
    dependsOn: t.stringList({
      limit: 'jobDependencies',
      description:
        'Names of jobs that come before this one. Left out or null: none; if no job of the task has any, the jobs run one after the other.',
    }),
  }),
})
