import { hostname } from 'node:os'
import { builder } from '../schema/builder.ts'
import { forbiddenFailure } from '../schema/failures.ts'
import { DEFAULT_PAGE, MAX_PAGE } from '../schema/limits.ts'
import type { OpenStream } from './open-streams.ts'

const SubscriptionStateEnum = builder.enumType('SubscriptionState', {
  description: 'CATCHING_UP reads what it has missed; LIVE is told at once; PAUSED waits for a slow client.',
  values: ['CATCHING_UP', 'LIVE', 'PAUSED'] as const,
})

const OpenSubscriptionRef = builder.objectRef<OpenStream>('OpenSubscription').implement({
  description: 'A subscription that is open right now.',
  fields: (t) => ({
    id: t.exposeID('id'),
    operation: t.exposeString('operation', { nullable: true, description: 'As its client has named it.' }),
    field: t.exposeString('field', { description: 'phaseChanges, phaseLog, logs, …' }),
    viewer: t.exposeString('viewer', { description: "Whose token: a user's or an agent's name." }),
    openedAt: t.expose('openedAt', { type: 'DateTime' }),
    state: t.expose('state', { type: SubscriptionStateEnum }),
    sharedBy: t.exposeInt('sharedBy', { description: 'How many share one execution, itself included.' }),
    sequence: t.expose('sequence', {
      type: 'Sequence',
      nullable: true,
      description: 'All that matches, up to here, was sent. Null for what does not follow the log.',
    }),
    lag: t.int({
      nullable: true,
      description: 'Sequences from there to the end of the log; 0 for what is live.',
      resolve: ({ sequence, state }, _, { log }) =>
        sequence === null ? null : state === 'LIVE' ? 0 : Math.max(0, log.stats.known - sequence),
    }),
    bufferedBytes: t.exposeInt('bufferedBytes', { description: 'Not taken yet by its connection.' }),
    messages: t.expose('messages', { type: 'Float' }),
    bytes: t.expose('bytes', { type: 'Float' }),
    reads: t.exposeInt('reads', { description: 'How often it has read for itself what it had missed.' }),
    pauses: t.exposeInt('pauses', { description: 'How often its client was too slow.' }),
  }),
})

const GatewayStreamsRef = builder
  .objectRef<{ readonly streams: readonly OpenStream[]; readonly first: number }>('GatewaySubscriptions')
  .implement({
    description: 'The subscriptions of the gateway that answers, and how it hears the log. Counts are since its start.',
    fields: (t) => ({
      gateway: t.string({ description: 'Host name and process id.', resolve: () => `${hostname()}:${process.pid}` }),
      totalCount: t.int({ resolve: ({ streams }) => streams.length }),
      nodes: t.field({
        type: [OpenSubscriptionRef],
        description: 'Those with the most bytes waiting first.',
        resolve: ({ streams, first }) =>
          [...streams].sort((a, b) => b.bufferedBytes - a.bufferedBytes || Number(a.id) - Number(b.id)).slice(0, first),
      }),
      head: t.field({ type: 'Sequence', resolve: (_, __, { log }) => log.stats.known }),
      gaps: t.int({
        description: 'Announcements that came after a gap, which was then read from the database.',
        resolve: (_, __, { log }) => log.stats.gaps,
      }),
      duplicates: t.int({
        description: 'Announcements that told nothing new.',
        resolve: (_, __, { log }) => log.stats.stale,
      }),
    }),
  })

builder.queryField('subscriptions', (t) =>
  t.field({
    type: GatewayStreamsRef,
    nullable: true,
    description: 'Administrators only: who listens, how far each has come, and who is slow.',
    args: { first: t.arg.int({ required: true, defaultValue: DEFAULT_PAGE }) },
    complexity: ({ first }) => ({ field: 1, multiplier: Math.max(1, first) }),
    resolve: (_, { first }, { viewer, streams }) => {
      if (viewer.role !== 'ADMIN') throw forbiddenFailure('Only an administrator may see who listens.')
      return { streams: streams.list(), first: Math.min(MAX_PAGE, Math.max(0, first)) }
    },
  }),
)
