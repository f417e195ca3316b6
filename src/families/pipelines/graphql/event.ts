import type { ObjectRow } from '../../../core/tree.ts'
import { sideField, sideObject } from '../../../graphql/loaders.ts'
import { LabelRef } from '../../../graphql/objects/object-parts.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { eventLoader, payloadLoader, workerLoader } from './loaders.ts'
import { WorkerRef } from './workload.ts'

const pairs = (record: Readonly<Record<string, string>>) =>
  Object.entries(record).map(([key, value]) => ({ key, value }))

export const EventRef = builder.objectRef<ObjectRow>('Event')
EventRef.implement({
  description:
    'One occurrence, reported to one project. It starts a worker from the worker template of the project, and has the phase of that worker.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    source: t.string({
      description: 'Origin of the event, e.g. github.com/acme; 1 to 255 characters.',
      resolve: sideField(eventLoader, 'source', ''),
    }),
    type: t.string({
      description: 'The event at the source, e.g. push; 1 to 255 characters.',
      resolve: sideField(eventLoader, 'type', ''),
    }),
    qualifiers: t.field({
      type: [LabelRef],
      description: 'Pairs that the qualifiers of a subscription must equal; at most 64, empty if none were given.',
      resolve: async ({ id }, _, context) => pairs((await eventLoader(context).load(id))?.qualifiers ?? {}),
    }),
    payload: t.string({
      nullable: true,
      description: 'Text for the worker, exactly as it was given, at most 512 KiB; null if none was given.',
      resolve: sideField(payloadLoader, 'payload', null),
    }),
    subscribed: t.boolean({
      description:
        'True if a subscription brought the event to the project; false if createEvent named the project. Retries and clones have the value of their event.',
      resolve: sideField(eventLoader, 'subscribed', false),
    }),
    hops: t.int({
      description:
        'How many times a chain of notifications and hooks has come back here before this event: the header Phaseline-Hops of the delivery that created it; 0 for any other event. Retries and clones have the value of their event.',
      resolve: sideField(eventLoader, 'hops', 0),
    }),
    worker: t.field({
      type: WorkerRef,
      nullable: true,
      description: 'The worker that the event started; null once it is deleted.',
      resolve: ({ id }, _, context) => workerLoader(context).load(id),
    }),
    retryOf: t.field({
      type: EventRef,
      nullable: true,
      description: 'The event that this one retries; null if it is no retry, and once that event is deleted.',
      resolve: sideObject(eventLoader, 'retryOf'),
    }),
    cloneOf: t.field({
      type: EventRef,
      nullable: true,
      description: 'The event that this one is a clone of; null if it is no clone, and once that event is deleted.',
      resolve: sideObject(eventLoader, 'cloneOf'),
    }),
  }),
})
