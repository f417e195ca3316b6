import type { GraphQLContext } from '../context.ts'
import { workLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'

export interface WorkHolder {
  readonly name: string
  readonly instance: string
  readonly leaseUntil: Date | null
}
export const WorkHolderRef = builder.objectRef<WorkHolder>('WorkHolder').implement({
  description: 'The agent that works on an object, or did so last.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of its token.' }),
    instance: t.exposeString('instance', { description: 'Name that the process gives itself.' }),
    leaseUntil: t.expose('leaseUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When its lease ends unless it is renewed; null if it has none any more.',
    }),
  }),
})

export async function holderOf(context: GraphQLContext, objectId: string): Promise<WorkHolder | null> {
  const { principal, instance, leaseUntil = null } = (await workLoader(context).load(objectId)) ?? {}
  return principal && instance ? { name: principal, instance, leaseUntil } : null
}
