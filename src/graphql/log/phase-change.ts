import type { LogCursor } from '../../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { cursorAt, encodeCursor } from '../../log/cursor.ts'
import { canReadTree } from '../auth/worker-access.ts'
import type { GraphQLContext } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { logCursor } from '../schema/cursors.ts'
import { ActorEnum, ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { tellExpired } from '../schema/failures.ts'
import { isUuid, phaseChangeId } from '../schema/ids.ts'
import { pageCost } from '../schema/limits.ts'
import { NodeRef, PhaseChangeConnection, PhaseChangeRef, TreeObjectRef } from '../schema/refs.ts'
import { AT_LEAST, caughtUp } from './read-your-writes.ts'

PhaseChangeRef.implement({
  description: 'One durable record of a phase write, or of a refused request (rejected = true).',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: phaseChangeId }),
    sequence: t.expose('sequence', { type: 'Sequence' }),
    cursor: t.string({
      description: 'Its place in the log: resume with `after: cursor`.',
      resolve: (change) => encodeCursor(cursorAt(change)),
    }),
    objectId: t.exposeID('objectId'),
    kind: t.expose('kind', { type: ObjectKindEnum }),
    name: t.exposeString('name'),
    rootId: t.exposeID('rootId'),
    projectName: t.exposeString('projectName'),
    machine: t.exposeString('machine', { description: 'Which machine of the kind, e.g. cloudletUpgrade.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'Null while it exists no more.',
      resolve: ({ objectId }, _, context) => objectLoader(context).load(objectId),
    }),
    from: t.expose('from', { type: PhaseEnum, nullable: true }),
    to: t.expose('to', { type: PhaseEnum }),
    actor: t.expose('actor', { type: ActorEnum }),
    by: t.exposeString('by', { nullable: true, description: "Who: a user's or an agent's name." }),
    reason: t.exposeString('reason', { nullable: true }),
    message: t.exposeString('message', { nullable: true }),
    jobId: t.exposeID('jobId', { nullable: true }),
    revision: t.exposeInt('revision', { nullable: true, description: 'Null when rejected: nothing was written.' }),
    rejected: t.exposeBoolean('rejected'),
    at: t.expose('at', { type: 'DateTime' }),
  }),
})

export const PhaseChangeFilter = builder.inputType('PhaseChangeFilter', {
  fields: (t) => ({
    project: t.string(),
    rootId: t.id(),
    objectId: t.id(),
    kinds: t.field({ type: [ObjectKindEnum] }),
    to: t.field({ type: [PhaseEnum] }),
    includeRejected: t.boolean({ required: true, defaultValue: false }),
  }),
})
export type PhaseChangeFilterInput = typeof PhaseChangeFilter.$inferInput

/** Null: the filter names something that cannot exist, so nothing matches. */
export function queryOf(
  { viewer }: GraphQLContext,
  filter: PhaseChangeFilterInput | null | undefined,
): PhaseChangeQuery | null {
  const { project, rootId, objectId, kinds, to, includeRejected = false } = filter ?? {}
  if ([rootId, objectId].some((id) => typeof id === 'string' && !isUuid(id))) return null
  if (rootId && !canReadTree(viewer, rootId)) return null
  return {
    projects: viewer.projects,
    project: project ?? undefined,
    rootId: rootId ?? viewer.eventId,
    objectId: objectId ?? undefined,
    kinds: kinds ?? undefined,
    to: to ?? undefined,
    includeRejected,
  }
}

builder.queryField('phaseChanges', (t) =>
  t.field({
    type: PhaseChangeConnection,
    nullable: true,
    description: 'Everything that was committed before the call is in it.',
    args: {
      filter: t.arg({ type: PhaseChangeFilter }),
      atLeast: t.arg({ type: 'Sequence', description: AT_LEAST }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: async (_, { filter, atLeast, ...args }, context) => {
      const query = queryOf(context, filter)
      const { log } = context
      await caughtUp(context, atLeast)
      return await connect<PhaseChangeRecord, LogCursor>(args, {
        cursor: logCursor,
        position: cursorAt,
        load: async ({ after, before, backward, limit }) =>
          query === null
            ? []
            : await tellExpired(log, () =>
                log.page(query, {
                  after: after ?? undefined,
                  before: before ?? undefined,
                  limit,
                  direction: backward ? 'backward' : 'forward',
                }),
              ),
        count: async () => (query === null ? 0 : await log.count(query)),
      })
    },
  }),
)
