import { builder } from '../schema/builder.ts'

export const LabelInput = builder.inputType('LabelInput', {
  fields: (t) => ({ key: t.string({ required: true }), value: t.string({ required: true }) }),
})
