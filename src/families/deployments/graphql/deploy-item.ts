import type { ObjectRow } from '../../../core/tree.ts'
import { WorkObjectRef } from '../../../graphql/agents/work-object.ts'
import { sideField, workLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import type { Gate } from '../../gate.ts'
import { addGate } from '../../gate-mutations.ts'
import { RetryPolicyRef } from '../../retry-input.ts'
import type { Each, ItemSpec } from '../rules/spec.ts'
import { TimeoutsRef } from './installation-spec.ts'
import { itemLoader, specOf } from './loaders.ts'

const EachRef = builder.objectRef<Each>('DeployItemEach').implement({
  description: 'The entry of a list, and the item of the spec that has the list.',
  fields: (t) => ({
    of: t.exposeString('of', { description: 'Name of the item of the spec.' }),
    key: t.exposeString('key', {
      description: 'Its key: a text or number of a list, the `name` of an object, or a key of a map.',
    }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Its value; null: the value null.',
      resolve: ({ value }) => value,
    }),
  }),
})
export const DeployItemRef = builder.objectRef<ObjectRow>('DeployItem')
DeployItemRef.implement({
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
    each: t.field({
      type: EachRef,
      nullable: true,
      description: 'The entry of a list of which a job has made the item; null: it is of no list.',
      resolve: async ({ id }, _, context) => (await specOf<ItemSpec>(context, id))?.each,
    }),
    timeouts: t.field({
      type: TimeoutsRef,
      description: 'Timeouts of the item.',
      resolve: async ({ id }, _, context) => (await specOf<ItemSpec>(context, id))?.timeouts ?? {},
    }),
    retry: t.field({
      type: RetryPolicyRef,
      nullable: true,
      description: 'Retry policy of the item, as its spec has it; null: its first failure is final for the job.',
      resolve: async ({ id }, _, context) => (await specOf<ItemSpec>(context, id))?.retry,
    }),
  }),
})
addGate(
  DeployItemRef,
  'Its gate in the running or last job; null if it is none, or has not waited in any job yet.',
  async (context, id) => ((await itemLoader(context).load(id))?.gate as Gate | null | undefined) ?? null,
)
