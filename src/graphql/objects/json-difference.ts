import type { JsonDiff, JsonDifference } from '../../core/json-diff.ts'
import { builder } from '../schema/builder.ts'

/** Differences of one answer. */
export const MAX_DIFFERENCES = 500

export const DifferenceKind = builder.enumType('DifferenceKind', {
  description: 'How something differs from before.',
  values: {
    ADDED: { description: 'It was not there before.' },
    REMOVED: { description: 'It is not there any more.' },
    CHANGED: { description: 'It is another one.' },
  } as const,
})

const JsonDifferenceRef = builder.objectRef<JsonDifference>('JsonDifference').implement({
  description: 'A value in a JSON document that differs.',
  fields: (t) => ({
    path: t.exposeStringList('path', {
      description:
        'Names of the members that lead to it; an entry of a list goes by its `name` if all have one of their own, otherwise by its place from 0.',
    }),
    change: t.expose('change', { type: DifferenceKind, description: 'How it differs.' }),
    before: t.expose('before', {
      type: 'JSON',
      nullable: true,
      description: 'The value before; null if it was added.',
    }),
    after: t.expose('after', { type: 'JSON', nullable: true, description: 'The value after; null if it was removed.' }),
  }),
})

export const JsonDiffRef = builder.objectRef<JsonDiff>('JsonDiff').implement({
  description: 'The differences of two JSON documents.',
  fields: (t) => ({
    differences: t.field({
      type: [JsonDifferenceRef],
      description: `At most ${MAX_DIFFERENCES}, in the order of the documents.`,
      resolve: ({ differences }) => [...differences],
    }),
    truncated: t.exposeBoolean('truncated', { description: 'True if there are more.' }),
  }),
})
