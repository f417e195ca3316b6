import type { BlockerValue } from '../../../graphql/family.ts'
import { objectLoader, objectOf } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { connect } from '../../../graphql/schema/connection.ts'
import { lockCursor } from '../../../graphql/schema/cursors.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import { BlockerRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { rights } from '../rights.ts'
import type { OperationsBlocker } from '../rules/blockers.ts'
import { countLocks, type LockPosition, type LockRow, listLocks } from '../store/lock-queries.ts'
import { LockModeEnum } from './declared-locks.ts'

export const LockRef = builder.objectRef<LockRow>('Lock').implement({
  description:
    'A lock on a resource that a gadget job holds or waits for. A job gets all its locks at once, first come, first served.',
  fields: (t) => ({
    resource: t.exposeString('resource', {
      description:
        'Name of the resource as the gadget declared it, e.g. host:web-1; 1 to 256 characters. Phaseline does not interpret it.',
    }),
    mode: t.expose('mode', {
      type: LockModeEnum,
      description:
        'SHARED: other jobs may hold shared locks on the resource at the same time. EXCLUSIVE: no other job holds one.',
    }),
    held: t.exposeBoolean('held', { description: 'True if the job holds the lock; false: it waits for it.' }),
    position: t.exposeInt('position', {
      nullable: true,
      description:
        'Place in the queue of the resource, from 1, counting waiting jobs of all projects. Null if the lock is held.',
    }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The gadget job; null if it is deleted, or the caller may not read it.',
      resolve: objectOf,
    }),
    declaredAt: t.expose('declaredAt', { type: 'DateTime', description: 'When the job entered the queue.' }),
    grantedAt: t.expose('grantedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the lock was granted; null while the job waits.',
    }),
  }),
})
const LockConnection = builder.connectionObject({ name: 'LockConnection', type: LockRef }, {})

builder.queryField('locks', (t) =>
  t.field({
    right: rights.readLocks,
    type: LockConnection,
    nullable: true,
    description:
      'Locks of the jobs that the caller may read, held and waited for, by resource and then in the order of its queue. Null only together with an entry in `errors`.',
    args: {
      resource: t.arg.string({
        limit: 'resource',
        description: 'Resource whose locks are listed, by its exact name. Left out or null: all resources.',
      }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: (_, { resource, ...args }, { pool, viewer }) => {
      const { projects, rootId } = viewer
      const query = { resource: resource ?? undefined, projects, rootId }
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
  description:
    'The job waits for a lock on a resource that other jobs hold or asked for earlier, in a mode that conflicts.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    resource: t.exposeString('resource', { description: 'Name of the resource.' }),
    mode: t.expose('mode', { type: LockModeEnum, description: 'Mode in which the job needs the resource.' }),
    position: t.exposeInt('position', { description: 'Place in the queue of the resource, from 1.' }),
    holders: t.field({
      type: [TreeObjectRef],
      nullable: { list: false, items: true },
      description:
        'Jobs that hold the resource and conflict with it. With waiters at most ten, earliest first; null for one that the caller may not read.',
      resolve: ({ holderIds }, _, context) => holderIds.map((id) => objectLoader(context).load(id)),
    }),
    waiters: t.field({
      type: [TreeObjectRef],
      nullable: { list: false, items: true },
      description:
        'Jobs that wait for the resource, come before it and conflict with it. With holders at most ten; null for one that the caller may not read.',
      resolve: ({ waiterIds }, _, context) => waiterIds.map((id) => objectLoader(context).load(id)),
    }),
  }),
})
