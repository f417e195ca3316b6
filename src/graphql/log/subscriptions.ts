import { hostname } from 'node:os'
import { isAbove, RIGHTS } from '../../core/rights.ts'
import { builder } from '../schema/builder.ts'
import { DEFAULT_PAGE, MAX_PAGE } from '../schema/limits.ts'
import type { OpenStream } from './open-streams.ts'

const SubscriptionStateEnum = builder.enumType('SubscriptionState', {
  description: 'How a subscription gets its events.',
  values: {
    CATCHING_UP: { description: 'It reads the events that it has missed.' },
    LIVE: { description: 'It gets each event at once.' },
    PAUSED: { description: 'It waits until its slow client has taken what was sent.' },
  } as const,
})

const OpenSubscriptionRef = builder.objectRef<OpenStream>('OpenSubscription').implement({
  description: 'A subscription that is open now.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique on its gateway since the start of the gateway.' }),
    operation: t.exposeString('operation', {
      nullable: true,
      description: 'Name that the client gave the operation; null if it gave none.',
    }),
    field: t.exposeString('field', { description: 'Field of the type Subscription, e.g. phaseChanges.' }),
    viewer: t.string({ description: 'Name of the principal.', resolve: ({ caller }) => caller.name }),
    openedAt: t.expose('openedAt', { type: 'DateTime', description: 'When it was opened.' }),
    state: t.expose('state', { type: SubscriptionStateEnum, description: 'How it gets its events.' }),
    sharedBy: t.exposeInt('sharedBy', {
      description: 'Count of subscriptions that share one execution, itself included.',
    }),
    sequence: t.expose('sequence', {
      type: 'Sequence',
      nullable: true,
      description:
        'Sequence up to which everything that matches has been sent; null if the subscription does not follow the log.',
    }),
    lag: t.int({
      nullable: true,
      description:
        'Count of sequences from `sequence` to the end of the log, 0 if it is LIVE; null if it does not follow the log.',
      resolve: ({ sequence, state }, _, { log }) =>
        sequence === null ? null : state === 'LIVE' ? 0 : Math.max(0, log.stats.known - sequence),
    }),
    bufferedBytes: t.exposeInt('bufferedBytes', { description: 'Bytes that its connection has not taken yet.' }),
    messages: t.expose('messages', { type: 'Float', description: 'Count of messages that were sent.' }),
    bytes: t.expose('bytes', { type: 'Float', description: 'Bytes that were sent.' }),
    reads: t.exposeInt('reads', { description: 'Count of its own reads of events that it had missed.' }),
    pauses: t.exposeInt('pauses', { description: 'Count of pauses for its slow client.' }),
  }),
})

const GatewayStreamsRef = builder
  .objectRef<{ readonly streams: readonly OpenStream[]; readonly first: number }>('GatewaySubscriptions')
  .implement({
    description:
      'Subscriptions of the gateway that answers, and how the log reaches it. Counts are since the start of the gateway.',
    fields: (t) => ({
      gateway: t.string({ description: 'Host name and process id.', resolve: () => `${hostname()}:${process.pid}` }),
      totalCount: t.int({
        description: 'Count of all of them; `nodes` may hold fewer.',
        resolve: ({ streams }) => streams.length,
      }),
      nodes: t.field({
        type: [OpenSubscriptionRef],
        description: 'Open subscriptions, those with the most buffered bytes first.',
        resolve: ({ streams, first }) =>
          [...streams].sort((a, b) => b.bufferedBytes - a.bufferedBytes || Number(a.id) - Number(b.id)).slice(0, first),
      }),
      head: t.field({
        type: 'Sequence',
        description: 'Last sequence of the log that the gateway knows; 0 if the log is empty.',
        resolve: (_, __, { log }) => log.stats.known,
      }),
      gaps: t.int({
        description: 'Count of announcements that came after a gap, which the gateway then read from the database.',
        resolve: (_, __, { log }) => log.stats.gaps,
      }),
      duplicates: t.int({
        description: 'Count of announcements with nothing new.',
        resolve: (_, __, { log }) => log.stats.stale,
      }),
    }),
  })

builder.queryField('subscriptions', (t) =>
  t.field({
    right: RIGHTS.readStreams,
    type: GatewayStreamsRef,
    nullable: true,
    description:
      'Subscriptions that are open on the gateway that answers, how far each has come, and which clients are slow: all of them, or those of principals that have grants only in projects that the caller administers. Null only together with an entry in `errors`.',
    args: {
      first: t.arg.int({
        required: true,
        defaultValue: DEFAULT_PAGE,
        description: `At most this many subscriptions. Values outside of 0 to ${MAX_PAGE} are taken as the nearest of them.`,
      }),
    },
    complexity: ({ first }) => ({ field: 1, multiplier: Math.max(1, first) }),
    resolve: (_, { first }, { viewer, streams }) => ({
      streams: streams.list().filter(({ caller }) => isAbove(viewer, caller.grants)),
      first: Math.min(MAX_PAGE, Math.max(0, first)),
    }),
  }),
)
