import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { addTriggerInput, TRIGGER_EXPRESSIONS } from '../../trigger-input.ts'

const LABELS = 'Values may hold expressions as `source` does. Left out or null: none.'
addTriggerInput(
  'createEvent',
  builder.inputType('TriggeredEventInput', {
    description: 'An event of the same project, which needs a worker template.',
    fields: (t) => ({
      source: t.string({ required: true, limit: 'word', description: `Origin of the event. ${TRIGGER_EXPRESSIONS}` }),
      type: t.string({ required: true, limit: 'word', description: `The event at the source. ${TRIGGER_EXPRESSIONS}` }),
      qualifiers: t.field({ type: [LabelInput], limit: 'labels', description: `Qualifiers of the event. ${LABELS}` }),
      labels: t.field({ type: [LabelInput], limit: 'labels', description: `Labels of the event. ${LABELS}` }),
      payload: t.string({
        limit: 'payload',
        description: `Text for the worker. ${TRIGGER_EXPRESSIONS} Left out or null: none.`,
      }),
    }),
  }),
  'Creates an event. Left out or null: another field says what starts.',
)
