import { builder } from '../../../graphql/schema/builder.ts'
import { GadgetJobInput } from '../../gadget-job-input.ts'
import { addTriggerInput } from '../../trigger-input.ts'

addTriggerInput(
  'createTask',
  builder.inputType('TriggeredTaskInput', {
    description: 'A task, named after the schedule and its time.',
    fields: (t) => ({
      jobs: t.field({
        type: [GadgetJobInput],
        required: true,
        limit: 'jobs',
        description:
          'Jobs of the task. Their gadgets find the time in GADGET_SCHEDULE_NAME, GADGET_SCHEDULE_DUE and GADGET_SCHEDULE_PREVIOUS.',
      }),
    }),
  }),
  'Creates a task. Left out or null: another field says what starts.',
)
