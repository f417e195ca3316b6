import { builder } from '../../../graphql/builder.ts'
import { connect } from '../../../graphql/connection.ts'
import { lockCursor } from '../../../graphql/cursors.ts'
import { LockModeEnum } from '../../../graphql/enums.ts'
import type { BlockerValue } from '../../../graphql/family.ts'
import { pageCost } from '../../../graphql/limits.ts'
import { objectLoader } from '../../../graphql/loaders.ts'
import { BlockerRef, TreeObjectRef } from '../../../graphql/refs.ts'
import type { OperationsBlocker } from '../blockers.ts'
import { countLocks, type LockPosition, type LockRow, listLocks } from '../locks.ts'

export const LockRef = builder.objectRef<LockRow>('Lock').implement({
  description: 'A resource that a job holds, or waits for.',
  fields: (t) => ({
    resource: t.exposeString('resource'),
    mode: t.expose('mode', { type: LockModeEnum }),
    held: t.exposeBoolean('held'),
    position: t.exposeInt('position', {
      nullable: true,
      description: 'From 1, among those that wait for the resource; null: it holds it.',
    }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The job. Null once it is gone.',
      resolve: ({ objectId }, _, context) => objectLoader(context).load(objectId),
    }),
    declaredAt: t.expose('declaredAt', { type: 'DateTime' }),
    grantedAt: t.expose('grantedAt', { type: 'DateTime', nullable: true }),
  }),
})
const LockConnection = builder.connectionObject({ name: 'LockConnection', type: LockRef }, {})

builder.queryField('locks', (t) =>
  t.field({
    type: LockConnection,
    nullable: true,
    description: 'Holders and waiters, by resource; each resource in the order of its queue.',
    args: { resource: t.arg.string(), ...t.arg.connectionArgs() },
    complexity: (args) => pageCost(args),
    resolve: (_, { resource, ...args }, { pool, viewer }) => {
      const query = { resource: resource ?? undefined, projects: viewer.projects }
      return connect(args, {
        cursor: lockCursor,
        position: ({ resource: at, ticket, objectId }: LockRow): LockPosition => [at, ticket, objectId],
        load: (window) => listLocks(pool, { ...query, window }),
        count: () => countLocks(pool, query),
      })
    },
  }),
)

type LockBlocker = Extract<OperationsBlocker, { readonly reason: 'LOCK' }> & BlockerValue
builder.objectRef<LockBlocker>('LockBlocker').implement({
  description: 'A resource that others hold, or have asked for before.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    resource: t.exposeString('resource'),
    mode: t.expose('mode', { type: LockModeEnum }),
    position: t.exposeInt('position', { description: 'From 1, among those that wait for the resource.' }),
    holders: t.field({
      type: [TreeObjectRef],
      nullable: { list: false, items: true },
      description: 'At most ten of them; null: one that may not be seen.',
      resolve: ({ holderIds }, _, context) => holderIds.map((id) => objectLoader(context).load(id)),
    }),
    waiters: t.field({
      type: [TreeObjectRef],
      nullable: { list: false, items: true },
      description: 'Some of those that come before it and are in conflict with it.',
      resolve: ({ waiterIds }, _, context) => waiterIds.map((id) => objectLoader(context).load(id)),
    }),
  }),
})
