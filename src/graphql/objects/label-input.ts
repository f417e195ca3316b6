import { builder } from '../schema/builder.ts'

export const LabelInput = builder.inputType('LabelInput', {
  description: 'A pair to put on an object, or to find objects by.',
  fields: (t) => ({
    key: t.string({
      required: true,
      description:
        'Letters, digits, `.`, `_`, `/` and `-`, with a letter or digit at both ends; at most 253 characters.',
    }),
    value: t.string({ required: true, description: 'At most 255 characters; may be empty.' }),
  }),
})
