import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { classesOf, type ItemClasses } from '../item-classes.ts'
import { itemCountLoader } from './loaders.ts'

const ExecutionClassesRef = builder.objectRef<ItemClasses>('ExecutionClasses').implement({
  description: 'How many deploy items are in which class of the running or last job.',
  fields: (t) => ({
    succeeded: t.exposeInt('succeeded', { description: 'A: triggered, and succeeded.' }),
    failed: t.exposeInt('failed', { description: 'B: triggered, and failed or aborted.' }),
    unfinished: t.exposeInt('unfinished', { description: 'C: triggered, and not finished.' }),
    triggerable: t.exposeInt('triggerable', { description: 'D: not triggered, and waiting for no other.' }),
    waiting: t.exposeInt('waiting', { description: 'E: not triggered, and waiting for others.' }),
  }),
})

export const ExecutionRef = builder.objectRef<ObjectRow>('Execution').implement({
  description: "Sees to an installation's deploy items.",
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    classes: t.field({
      type: ExecutionClassesRef,
      resolve: async ({ id }, _, context) => classesOf((await itemCountLoader(context).load(id)) ?? []),
    }),
  }),
})
