import { LabelInput, pairsOf } from '../../../graphql/objects/label-input.ts'
import { addObjectFilter } from '../../../graphql/objects/objects.ts'
import { builder } from '../../../graphql/schema/builder.ts'

const EventFilter = builder.inputType('EventFilter', {
  description: 'Events for which every given field holds. A field that is left out or null holds for all.',
  fields: (t) => ({
    source: t.string({ limit: 'word', description: 'Source of the event.' }),
    type: t.string({ limit: 'word', description: 'Type of the event.' }),
    qualifiers: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: 'Pairs that must be all qualifiers of the event; empty: it must have none.',
    }),
  }),
})

addObjectFilter(
  'event',
  { type: EventFilter, description: 'Only events, and of these those for which every given field of it holds.' },
  ({ source, type, qualifiers }) => ({
    table: 'event',
    columns: { source, type, qualifiers: qualifiers && JSON.stringify(pairsOf(qualifiers)) },
  }),
)
