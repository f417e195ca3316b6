import type { ObjectRow } from '../../../core/tree.ts'
import { holderOf, WorkHolderRef } from '../../../graphql/agents/work-holder.ts'
import { workLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import type { ItemSpec, Timeout, Timeouts } from '../spec.ts'
import { itemLoader, specOf } from './loaders.ts'

const TimeoutRef = builder.objectRef<Timeout>('Timeout').implement({
  fields: (t) => ({
    ms: t.int({ nullable: true, resolve: (timeout) => ('ms' in timeout ? timeout.ms : null) }),
    never: t.boolean({ resolve: (timeout) => 'never' in timeout }),
  }),
})
const TimeoutsRef = builder.objectRef<Timeouts>('Timeouts').implement({
  description: "As its spec has them; null: the server's default.",
  fields: (t) => ({
    pickup: t.field({ type: TimeoutRef, nullable: true, resolve: ({ pickup }) => pickup }),
    progressing: t.field({ type: TimeoutRef, nullable: true, resolve: ({ progressing }) => progressing }),
    aborting: t.field({ type: TimeoutRef, nullable: true, resolve: ({ aborting }) => aborting }),
  }),
})

builder.objectRef<ObjectRow>('DeployItem').implement({
  description: 'One thing that a deployer deploys.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    type: t.string({ resolve: async ({ id }, _, context) => (await itemLoader(context).load(id))?.type ?? '' }),
    target: t.string({
      nullable: true,
      resolve: async ({ id }, _, context) => (await itemLoader(context).load(id))?.target ?? null,
    }),
    config: t.field({
      type: 'JSON',
      nullable: true,
      description: 'As in the spec: its expressions are not resolved here.',
      resolve: async ({ id }, _, context) => (await specOf<ItemSpec>(context, id))?.config ?? null,
    }),
    exports: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Of its last success.',
      resolve: async ({ id }, _, context) => (await itemLoader(context).load(id))?.exports ?? null,
    }),
    attempt: t.int({
      description: 'How often it was claimed in the running or last job.',
      resolve: async ({ id }, _, context) => (await workLoader(context).load(id))?.attempt ?? 0,
    }),
    agent: t.field({
      type: WorkHolderRef,
      nullable: true,
      resolve: ({ id }, _, context) => holderOf(context, id),
    }),
    timeouts: t.field({
      type: TimeoutsRef,
      resolve: async ({ id }, _, context) => (await specOf<ItemSpec>(context, id))?.timeouts ?? {},
    }),
  }),
})
