import type { ObjectRow } from '../../../core/tree.ts'
import { WorkObjectRef } from '../../../graphql/agents/work-object.ts'
import { sideField, workLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import type { ItemSpec, Timeout, Timeouts } from '../rules/spec.ts'
import { TIMEOUTS } from './inputs.ts'
import { itemLoader, specOf } from './loaders.ts'

const TimeoutRef = builder.objectRef<Timeout>('Timeout').implement({
  description: 'How long a clock runs.',
  fields: (t) => ({
    ms: t.int({
      nullable: true,
      description: 'Milliseconds until the clock expires; null if it never does.',
      resolve: (timeout) => ('ms' in timeout ? timeout.ms : null),
    }),
    never: t.boolean({ description: 'True if the clock never expires.', resolve: (timeout) => 'never' in timeout }),
  }),
})
const TimeoutsRef = builder.objectRef<Timeouts>('Timeouts').implement({
  description: 'Timeouts of a deploy item, as its spec has them.',
  fields: (t) => ({
    pickup: t.field({
      type: TimeoutRef,
      nullable: true,
      description: `${TIMEOUTS.pickup} Null: the default of the server, 5 minutes unless configured.`,
      resolve: ({ pickup }) => pickup,
    }),
    progressing: t.field({
      type: TimeoutRef,
      nullable: true,
      description: `${TIMEOUTS.progressing} Null: the default of the server, 10 minutes unless configured.`,
      resolve: ({ progressing }) => progressing,
    }),
    aborting: t.field({
      type: TimeoutRef,
      nullable: true,
      description: `${TIMEOUTS.aborting} Null: the default of the server, 5 minutes unless configured.`,
      resolve: ({ aborting }) => aborting,
    }),
  }),
})

builder.objectRef<ObjectRow>('DeployItem').implement({
  description: 'One thing that a deployer installs and uninstalls.',
  interfaces: [NodeRef, TreeObjectRef, WorkObjectRef],
  fields: (t) => ({
    type: t.string({
      description: 'Type of the work; deployers claim items by it.',
      resolve: sideField(itemLoader, 'type', ''),
    }),
    target: t.string({
      nullable: true,
      description: 'The place of the item; null if its spec names no target, so that any deployer may claim it.',
      resolve: sideField(itemLoader, 'target', null),
    }),
    config: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Config as in the spec, with its expressions unresolved; null if it has none.',
      resolve: async ({ id }, _, context) => (await specOf<ItemSpec>(context, id))?.config ?? null,
    }),
    exports: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Results that its deployer reported with its last success, by name; null if there are none.',
      resolve: sideField(itemLoader, 'exports', null),
    }),
    attempt: t.int({
      description: 'Count of claims in the running or last job.',
      resolve: sideField(workLoader, 'attempt', 0),
    }),
    timeouts: t.field({
      type: TimeoutsRef,
      description: 'Timeouts of the item.',
      resolve: async ({ id }, _, context) => (await specOf<ItemSpec>(context, id))?.timeouts ?? {},
    }),
  }),
})
