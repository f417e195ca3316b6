import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import { objectLoader } from '../../../graphql/loaders.ts'
import { LabelRef } from '../../../graphql/object-parts.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/refs.ts'
import { eventLoader, payloadLoader, workerLoader } from './loaders.ts'
import { WorkerRef } from './workload.ts'

const pairs = (record: Readonly<Record<string, string>>) =>
  Object.entries(record).map(([key, value]) => ({ key, value }))

export const EventRef = builder.objectRef<ObjectRow>('Event')
EventRef.implement({
  description: "Something that has happened, for one project. It shows its worker's phase.",
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    source: t.string({ resolve: async ({ id }, _, context) => (await eventLoader(context).load(id))?.source ?? '' }),
    type: t.string({ resolve: async ({ id }, _, context) => (await eventLoader(context).load(id))?.type ?? '' }),
    qualifiers: t.field({
      type: [LabelRef],
      resolve: async ({ id }, _, context) => pairs((await eventLoader(context).load(id))?.qualifiers ?? {}),
    }),
    payload: t.string({
      nullable: true,
      resolve: async ({ id }, _, context) => (await payloadLoader(context).load(id))?.payload ?? null,
    }),
    subscribed: t.boolean({
      description: 'It came through a subscription, and not for its project by name.',
      resolve: async ({ id }, _, context) => (await eventLoader(context).load(id))?.subscribed ?? false,
    }),
    worker: t.field({
      type: WorkerRef,
      nullable: true,
      description: 'Null once it is gone.',
      resolve: ({ id }, _, context) => workerLoader(context).load(id),
    }),
    retryOf: t.field({
      type: EventRef,
      nullable: true,
      description: 'The event that it retries; null as well once that is gone.',
      resolve: async ({ id }, _, context) => {
        const { retryOf } = (await eventLoader(context).load(id)) ?? {}
        return retryOf ? objectLoader(context).load(retryOf) : null
      },
    }),
    cloneOf: t.field({
      type: EventRef,
      nullable: true,
      description: 'The event that it is a clone of; null as well once that is gone.',
      resolve: async ({ id }, _, context) => {
        const { cloneOf } = (await eventLoader(context).load(id)) ?? {}
        return cloneOf ? objectLoader(context).load(cloneOf) : null
      },
    }),
  }),
})
