import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { classesOf, type ItemClasses } from '../rules/item-classes.ts'
import { itemCountLoader } from './loaders.ts'

const ExecutionClassesRef = builder.objectRef<ItemClasses>('ExecutionClasses').implement({
  description: 'Counts of the deploy items of an execution, by their class in the running or last job.',
  fields: (t) => ({
    succeeded: t.exposeInt('succeeded', { description: 'Triggered, and succeeded.' }),
    failed: t.exposeInt('failed', { description: 'Triggered, and failed or aborted.' }),
    unfinished: t.exposeInt('unfinished', { description: 'Triggered, and not finished.' }),
    triggerable: t.exposeInt('triggerable', { description: 'Not triggered, and waiting for no other item.' }),
    waiting: t.exposeInt('waiting', { description: 'Not triggered, and waiting for other items.' }),
  }),
})

export const ExecutionRef = builder.objectRef<ObjectRow>('Execution').implement({
  description: 'The part of an installation that runs its deploy items in the order of their dependencies.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    classes: t.field({
      type: ExecutionClassesRef,
      description: 'Counts of its deploy items, by their class in the running or last job.',
      resolve: async ({ id }, _, context) => classesOf((await itemCountLoader(context).load(id)) ?? []),
    }),
  }),
})
