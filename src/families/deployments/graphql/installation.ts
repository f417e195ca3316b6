import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { ReconcileModeEnum } from '../../../graphql/schema/enums.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import type { InstallationSpec } from '../spec.ts'
import { ExecutionRef } from './execution.ts'
import { executionLoader, installationLoader, specOf } from './loaders.ts'

export const InstallationRef = builder.objectRef<ObjectRow>('Installation').implement({
  description: 'A unit of deployment: nested installations and deploy items, with imports and exports.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    spec: t.field({
      type: 'JSON',
      nullable: true,
      description: 'As InstallationSpecInput, with all defaults filled in. Null once it is gone.',
      resolve: ({ id }, _, context) => specOf<InstallationSpec>(context, id),
    }),
    ignored: t.boolean({
      resolve: async ({ id }, _, context) => (await installationLoader(context).load(id))?.ignored ?? false,
    }),
    mode: t.field({
      type: ReconcileModeEnum,
      description: 'Of the running or last job.',
      resolve: async ({ id }, _, context) => (await installationLoader(context).load(id))?.mode ?? 'STANDARD',
    }),
    nextMode: t.field({
      type: ReconcileModeEnum,
      nullable: true,
      description: 'A reconcile that is remembered and begins when the running job has ended.',
      resolve: async ({ id }, _, context) => (await installationLoader(context).load(id))?.nextMode ?? null,
    }),
    nextDeletion: t.boolean({
      description: 'A deletion is remembered and begins when the running job has ended.',
      resolve: async ({ id }, _, context) => (await installationLoader(context).load(id))?.nextDeletion ?? false,
    }),
    cancelRequestedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the running or last job was cancelled.',
      resolve: async ({ id }, _, context) => (await installationLoader(context).load(id))?.cancelRequestedAt ?? null,
    }),
    cancelBy: t.string({
      nullable: true,
      resolve: async ({ id }, _, context) => (await installationLoader(context).load(id))?.cancelBy ?? null,
    }),
    imports: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The values that it read when it last entered INIT, by import name.',
      resolve: async ({ id }, _, context) => (await installationLoader(context).load(id))?.imports ?? null,
    }),
    exports: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The values of its last success, by export name.',
      resolve: async ({ id }, _, context) => (await installationLoader(context).load(id))?.exports ?? null,
    }),
    execution: t.field({
      type: ExecutionRef,
      nullable: true,
      description: 'Sees to its deploy items; null when it has none.',
      resolve: ({ id }, _, context) => executionLoader(context).load(id),
    }),
  }),
})
