import { builder } from '../schema/builder.ts'

export const LabelInput = builder.inputType('LabelInput', {
  description: 'A pair to put on an object, or to find objects by.',
  fields: (t) => ({
    key: t.string({
      required: true,
      limit: 'labelKey',
      description: 'Letters, digits, `.`, `_`, `/` and `-`, with a letter or digit at both ends.',
    }),
    value: t.string({ required: true, limit: 'labelValue', description: 'May be empty.' }),
  }),
})

/** The pairs by their keys; of equal keys the last. */
export const pairsOf = (pairs: readonly (typeof LabelInput.$inferInput)[]): Readonly<Record<string, string>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, value]))
