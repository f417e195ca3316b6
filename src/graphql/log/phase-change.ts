import type { LogCursor } from '../../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { RIGHTS } from '../../core/rights.ts'
import { cursorAt, encodeCursor } from '../../log/cursor.ts'
import { isRequested, pathOf, phaseChangeId } from '../../log/line.ts'
import { wordsOf } from '../../log/words.ts'
import type { GraphQLContext } from '../context.ts'
import { objectOf } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { connect, cutAt } from '../schema/connection.ts'
import { logCursor } from '../schema/cursors.ts'
import { ActorEnum, ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { reportExpired } from '../schema/failures.ts'
import { isUuid } from '../schema/ids.ts'
import { badInput, pageCost } from '../schema/limits.ts'
import { NodeRef, PhaseChangeConnection, PhaseChangeRef, TreeObjectRef } from '../schema/refs.ts'
import { AT_LEAST, caughtUp } from './read-your-writes.ts'

PhaseChangeRef.implement({
  description:
    'A record of the log: a phase change, a request or a takeover in which the phase stays (`requested`), or a request that the state machine refused (`rejected`). Records never change.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ description: 'Unique and permanent.', resolve: phaseChangeId }),
    sequence: t.expose('sequence', { type: 'Sequence', description: 'Position in the log, from 1, without gaps.' }),
    cursor: t.string({
      description: 'Place in the log, to resume from (`after`).',
      resolve: (change) => encodeCursor(cursorAt(change)),
    }),
    objectId: t.exposeID('objectId', { description: 'Id of the object.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the object.' }),
    name: t.exposeString('name', { description: 'Name of the object.' }),
    path: t.string({
      description:
        'Names from the root down to the object, divided by `/`. Begins with `…/` if an earlier release recorded the change of a nested object: it kept only the name.',
      resolve: pathOf,
    }),
    rootId: t.exposeID('rootId', { description: 'Id of the root of its tree.' }),
    projectName: t.exposeString('projectName', { description: 'Name of its project.' }),
    machine: t.exposeString('machine', {
      description: 'Name of the state machine; a kind may have a second one, e.g. cloudletUpgrade.',
    }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object as it is now; null if it is deleted.',
      resolve: objectOf,
    }),
    from: t.expose('from', {
      type: PhaseEnum,
      nullable: true,
      description: 'Phase before; null if the object was created.',
    }),
    to: t.expose('to', { type: PhaseEnum, description: 'Phase after, or the one that was refused; GONE: deleted.' }),
    actor: t.expose('actor', { type: ActorEnum, description: 'The actor that moved the object.' }),
    by: t.exposeString('by', {
      nullable: true,
      description: 'The mover of the object: the name that the principal had; null for the engine itself.',
    }),
    byId: t.exposeID('byId', {
      nullable: true,
      description:
        'The mover of the object: the id of the principal, or of the worker itself; null for the engine itself, and for changes that an earlier release has recorded.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why, as the row of the state machine says, or why it was refused; null if nothing says.',
    }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'The message of the agent or the user; null if none.',
    }),
    jobId: t.exposeID('jobId', { nullable: true, description: 'Job of the object at that time; null if it had none.' }),
    revision: t.int({
      description:
        'Revision of the object that the change made, from 1; 0 if it was rejected, or the phase stays (`requested`).',
      resolve: ({ revision }) => revision ?? 0,
    }),
    rejected: t.exposeBoolean('rejected', { description: 'True if the request was refused and nothing was written.' }),
    requested: t.boolean({
      description:
        'True if it is a request that was accepted and waits, such as a deletion during a job, or an agent that takes work over when the lease of another one has ended: `from` and `to` are the phase at that time, `reason` says what was requested.',
      resolve: isRequested,
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When, by the clock of the database.' }),
  }),
})

export const PhaseChangeFilter = builder.inputType('PhaseChangeFilter', {
  description: 'Phase changes for which every given field holds. A field that is left out or null holds for all.',
  fields: (t) => ({
    project: t.string({ limit: 'reference', description: 'Name of the project.' }),
    rootId: t.id({ description: 'Id of the root of the tree.' }),
    objectId: t.id({ description: 'Id of the object.' }),
    kinds: t.field({
      type: [ObjectKindEnum],
      limit: 'choices',
      description: 'Kinds, of which the object must have one.',
    }),
    to: t.field({ type: [PhaseEnum], limit: 'choices', description: 'Phases, of which `to` must be one.' }),
    actors: t.field({
      type: [ActorEnum],
      limit: 'choices',
      description: 'Roles, of which the one that moved the object must be one.',
    }),
    since: t.field({ type: 'DateTime', description: 'Time at or after which the change must be.' }),
    until: t.field({ type: 'DateTime', description: 'Time before which the change must be.' }),
    search: t.string({
      limit: 'search',
      description:
        'Words, of which the change must contain each, in any order: in the path with its project, the kind, the phases, the actor and its name, the reason or the message. The case of A to Z is ignored.',
    }),
    onlyRejected: t.boolean({
      description: 'True if only requests that the state machine refused are included. Needs `includeRejected`.',
    }),
    includeRejected: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True if requests that the state machine refused are included.',
    }),
  }),
})
export type PhaseChangeFilterInput = typeof PhaseChangeFilter.$inferInput

/** Null if the filter names something that cannot exist, so that nothing matches. */
export function queryOf(
  { viewer }: Pick<GraphQLContext, 'viewer'>,
  filter: PhaseChangeFilterInput | null | undefined,
): PhaseChangeQuery | null {
  const {
    project,
    rootId,
    objectId,
    kinds,
    to,
    actors,
    since,
    until,
    search,
    onlyRejected,
    includeRejected = false,
  } = filter ?? {}
  const words = wordsOf(search ?? '')
  if ([rootId, objectId].some((id) => typeof id === 'string' && !isUuid(id))) return null
  if (rootId && viewer.rootId !== undefined && viewer.rootId !== rootId) return null
  return {
    projects: viewer.projects,
    project: project ?? undefined,
    rootId: rootId ?? viewer.rootId,
    objectId: objectId ?? undefined,
    kinds: kinds ?? undefined,
    to: to ?? undefined,
    actors: actors ?? undefined,
    since: since ?? undefined,
    until: until ?? undefined,
    words: words.length > 0 ? words : undefined,
    onlyRejected: onlyRejected || undefined,
    includeRejected,
  }
}

builder.queryField('phaseChanges', (t) =>
  t.field({
    right: RIGHTS.readLog,
    type: PhaseChangeConnection,
    nullable: true,
    description:
      'Phase changes in the order of the log, with everything that was committed before the request. One request searches a bounded part of the log: a page of a filter that matches little may have fewer entries than requested, or none, while `pageInfo` says that there are more pages and has the cursor to resume from. Null only together with an entry in `errors`.',
    args: {
      filter: t.arg({
        type: PhaseChangeFilter,
        description: 'Selects changes. Left out or null: all but rejected ones.',
      }),
      atLeast: t.arg({ type: 'Sequence', description: AT_LEAST }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: async (_, { filter, atLeast, ...args }, context) => {
      const query = queryOf(context, filter)
      const { log } = context
      await caughtUp(context, atLeast)
      let reached: LogCursor | null = null
      const connection = await connect<PhaseChangeRecord, LogCursor>(args, {
        cursor: logCursor,
        isSearched: true,
        position: cursorAt,
        load: async ({ after, before, backward, limit }) => {
          if (query === null) return []
          const direction = backward ? 'backward' : 'forward'
          const page = await reportExpired(log, () =>
            log.page(query, { after: after ?? undefined, before: before ?? undefined, limit, direction }),
          )
          reached = page.reached
          return page.changes
        },
        count: async () => {
          if (query?.words !== undefined) throw badInput('A search has no totalCount: read its pages.')
          return query === null ? 0 : await log.count(query)
        },
      })
      return reached === null ? connection : cutAt(encodeCursor(reached), connection, typeof args.last === 'number')
    },
  }),
)
