import type { ObjectRow } from '../../core/tree.ts'
import { workLoader } from '../loaders.ts'
import type { ResolverContext } from '../resolver-context.ts'
import { builder } from '../schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../schema/refs.ts'
import { AttemptRef } from './attempt.ts'

interface WorkHolder {
  readonly name: string
  readonly instance: string
  readonly leaseUntil: Date | null
}
const WorkHolderRef = builder.objectRef<WorkHolder>('WorkHolder').implement({
  description: 'The agent that works on an object, or did so last.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of its principal.' }),
    instance: t.exposeString('instance', { description: 'Name that the process gives itself.' }),
    leaseUntil: t.expose('leaseUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When its lease ends unless it is renewed; null if it has none any more.',
    }),
  }),
})

const retriesOf = (row: ObjectRow, context: ResolverContext) =>
  context.kinds.familyOf(row.kind).attempts?.(context, row)

/** The interface of all types whose objects agents claim work for. */
export const WorkObjectRef = builder.interfaceRef<ObjectRow>('WorkObject').implement({
  description: 'An object that agents work on.',
  interfaces: [NodeRef, TreeObjectRef],
  resolveType: ({ kind }, { kinds }) => kinds.typenameOf(kind),
  fields: (t) => ({
    agent: t.field({
      type: WorkHolderRef,
      nullable: true,
      description: 'The agent that works on the object, or did so last; null before the first claim.',
      resolve: async ({ id }, _, context) => {
        const { holder, instance, leaseUntil = null } = (await workLoader(context).load(id)) ?? {}
        return holder && instance ? { name: holder, instance, leaseUntil } : null
      },
    }),
    attempts: t.field({
      type: [AttemptRef],
      description:
        'Attempts of the running or last job in their order, with the one that comes next; empty without a retry policy. Further claims within an attempt are not counted.',
      resolve: async (row, _, context) => [...((await retriesOf(row, context))?.attempts ?? [])],
    }),
    maxAttempts: t.int({
      nullable: true,
      description: 'Attempts that the retry policy of the running or last job allows in all; null without a policy.',
      resolve: async (row, _, context) => (await retriesOf(row, context))?.maxAttempts,
    }),
  }),
})
