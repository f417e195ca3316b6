import type { GraphQLContext } from '../context.ts'
import { workLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'

export interface WorkHolder {
  readonly name: string
  readonly instance: string
  readonly leaseUntil: Date | null
}
export const WorkHolderRef = builder.objectRef<WorkHolder>('WorkHolder').implement({
  description: 'The agent that has it in hand, or last had.',
  fields: (t) => ({
    name: t.exposeString('name'),
    instance: t.exposeString('instance'),
    leaseUntil: t.expose('leaseUntil', { type: 'DateTime', nullable: true }),
  }),
})

export async function holderOf(context: GraphQLContext, objectId: string): Promise<WorkHolder | null> {
  const { principal, instance, leaseUntil = null } = (await workLoader(context).load(objectId)) ?? {}
  return principal && instance ? { name: principal, instance, leaseUntil } : null
}
