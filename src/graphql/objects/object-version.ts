import { builder } from '../schema/builder.ts'

const ObjectVersionInput = builder.inputType('ObjectVersionInput', {
  description: 'An object as it was read.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Its id.' }),
    revision: t.int({ required: true, description: 'Its `revision`, which each change of a phase raises.' }),
    generation: t.int({ required: true, description: 'Its `generation`, which each change of its spec raises.' }),
  }),
})

type Versions = [typeof ObjectVersionInput]
/** Options of the input field by which a mutation depends on what its caller has read. */
export const IF_UNCHANGED = {
  type: [ObjectVersionInput] as Versions,
  limit: 'versions',
  description:
    'Objects of the tree that must be as they were read; otherwise nothing is written (REVISION_MISMATCH). They are compared in the transaction that writes. Left out, null or empty: nothing is compared.',
} as const
