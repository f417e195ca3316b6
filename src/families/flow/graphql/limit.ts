import type { Pool } from 'pg'
import { perOperation } from '../../../graphql/context.ts'
import { loadPages, loadSide, objectOf } from '../../../graphql/loaders.ts'
import { PauseRef } from '../../../graphql/objects/pause.ts'
import { addRecord, addRecordList, recordFields } from '../../../graphql/objects/project-record.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { connect, type PageArgs } from '../../../graphql/schema/connection.ts'
import { nameCursor, outputCursor } from '../../../graphql/schema/cursors.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import type { Window } from '../../../store/loaders/window.ts'
import { LIMIT } from '../commands/limits.ts'
import { rights } from '../rights.ts'
import type { LimitStrategy } from '../rules/normalise-limit.ts'
import {
  countFiltered,
  countTickets,
  type LimitKeyRow,
  type LimitRow,
  limitRecords,
  listTickets,
  loadKeys,
  loadOverrides,
  type OverrideRow,
  type TicketFilter,
  type TicketRow,
} from '../store/limits.ts'

type LimitValue = LimitRow & { readonly __typename: 'Limit' }
export const brand = (row: LimitRow): LimitValue => ({ ...row, __typename: 'Limit' })

const tickets = perOperation(({ pool, system }) => ({
  keys: loadPages((ids, window: Window<string>) => loadKeys(pool, ids, window)),
  counts: loadSide((ids) => countTickets(pool, ids)),
  overrides: loadSide((ids) => loadOverrides(pool, ids, system.fixedTime)),
}))

interface RateOf {
  readonly rateCount: number | null
  readonly rateMs: number | null
}
interface RateValue {
  readonly count: number
  readonly perMs: number
}
const RateRef = builder.objectRef<RateValue>('LimitRate').implement({
  description: 'How many objects may start with the same key in any time of some length.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'How many may start.' }),
    perMs: t.exposeInt('perMs', { description: 'In any time as long as this, in milliseconds.' }),
  }),
})
const rateOf = ({ rateCount, rateMs }: RateOf): RateValue | null =>
  rateCount === null || rateMs === null ? null : { count: rateCount, perMs: rateMs }

const WeightRef = builder.objectRef<{ readonly key: string; readonly weight: number }>('LimitWeight').implement({
  description: 'The weight of a key.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key.' }),
    weight: t.exposeInt('weight', {
      description: 'So many of its objects start while one with a key of weight 1 does.',
    }),
  }),
})

export const StrategyEnum = builder.enumType('LimitStrategy', {
  description: 'How a limit treats workers and jobs of a key when a newer one comes.',
  values: {
    QUEUE: { description: 'All wait for their turn.' },
    LATEST_ONLY: { description: 'A newer one takes the place of those that wait: they are CANCELED (SUPERSEDED).' },
    CANCEL_RUNNING: {
      description: 'A newer one takes the place of all: those that run are ABORTED (SUPERSEDED), too.',
    },
    SKIP: { description: 'A newer one is CANCELED (SKIPPED) while an older one waits or runs.' },
  } satisfies Readonly<Record<LimitStrategy, object>>,
})

const OverrideRef = builder.objectRef<OverrideRow>('LimitOverride').implement({
  description: 'Bounds of a key instead of those of its limit, for a time.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key.' }),
    maxPerKey: t.exposeInt('maxPerKey', {
      nullable: true,
      description: 'How many may hold the limit at once with it; null: as the limit says.',
    }),
    rate: t.field({
      type: RateRef,
      nullable: true,
      description: 'How many may start with it in a time; null: as the limit says.',
      resolve: rateOf,
    }),
    until: t.expose('until', { type: 'DateTime', description: 'When it ends by itself.' }),
    by: t.exposeString('by', { description: 'Name of the principal that has set it.' }),
  }),
})

const TicketRef = builder.objectRef<TicketRow>('LimitTicket').implement({
  description: 'An object that holds a limit, or waits for it.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Key with which it asks; empty: none.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object; null if it is deleted, or the viewer may not read it.',
      resolve: objectOf,
    }),
    position: t.exposeInt('position', {
      nullable: true,
      description: 'Place among the objects of its kind that wait with this key, from 1; null if it holds the limit.',
    }),
    priority: t.exposeInt('priority', { description: 'Priority with which it asks.' }),
    askedAt: t.expose('askedAt', { type: 'DateTime', description: 'When it began to wait.' }),
    grantedAt: t.expose('grantedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it began to hold the limit; null while it waits.',
    }),
  }),
})
const TicketConnection = builder.connectionObject({ name: 'LimitTicketConnection', type: TicketRef }, {})

const pageOf = (pool: Pool, args: PageArgs, filter: TicketFilter) =>
  connect(args, {
    cursor: outputCursor,
    position: ({ seq }: TicketRow) => seq,
    load: (window) => listTickets(pool, filter, window),
    count: () => countFiltered(pool, filter),
  })

const KEY = 'Only with this key. Left out or null: with any.'

const KeyRef = builder.objectRef<LimitKeyRow>('LimitKey').implement({
  description: 'A key of a limit that an object holds or waits for.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key; empty: that of objects that name none.' }),
    runningCount: t.exposeInt('running', { description: 'Number of objects that hold the limit with it.' }),
    waitingCount: t.exposeInt('waiting', { description: 'Number of objects that wait for the limit with it.' }),
  }),
})
const KeyConnection = builder.connectionObject({ name: 'LimitKeyConnection', type: KeyRef }, {})

export const LimitRef = builder.objectRef<LimitValue>('Limit').implement({
  description:
    'Bounds how many objects run at once that ask for it, of its project, or of all if it is shared: of all keys together, and of each key. Workers and jobs hold it from STARTING until their process has ended, deploy items from their offer until their deployer has.',
  interfaces: [NodeRef],
  fields: (t) => ({
    ...recordFields(t, { name: 'Unique among the limits of its project.' }),
    description: t.exposeString('description', { description: 'A sentence for people; empty if it has none.' }),
    max: t.exposeInt('max', {
      nullable: true,
      description: 'How many may hold it at once, of all keys together; null: no bound.',
    }),
    maxPerKey: t.exposeInt('maxPerKey', {
      nullable: true,
      description: 'How many may hold it at once with the same key; null: no bound.',
    }),
    rate: t.field({
      type: RateRef,
      nullable: true,
      description: 'How many may start with the same key in a time, whether they have ended or not; null: no bound.',
      resolve: rateOf,
    }),
    weights: t.field({
      type: [WeightRef],
      description: 'Weights of keys, in their order; 1 for the others. At most 100.',
      resolve: ({ weights }) =>
        Object.entries(weights)
          .map(([key, weight]) => ({ key, weight }))
          .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    }),
    strategy: t.expose('strategy', {
      type: StrategyEnum,
      description: 'How it treats workers and jobs of a key when a newer one comes. Deploy items always wait.',
    }),
    debounceMs: t.exposeInt('debounceMs', {
      nullable: true,
      description:
        'A worker or job starts once it is so old, in milliseconds, so that a newer one can take its place before; null: at once.',
    }),
    shared: t.exposeBoolean('isShared', {
      description: 'Objects of other projects may ask for it, too, as `project/name`.',
    }),
    pause: t.field({
      type: PauseRef,
      nullable: true,
      description: 'Its pause: nothing starts that asks for it. Null: it is not paused.',
      resolve: ({ pause }) => pause && { ...pause, at: new Date(pause.at) },
    }),
    overrides: t.field({
      type: [OverrideRef],
      description: 'Bounds of keys for a time, in the order of the keys; at most 100.',
      resolve: async ({ id }, _, context) => [...((await tickets(context).overrides.load(id)) ?? [])],
    }),
    runningCount: t.int({
      description: 'Number of objects that hold it. It may be above the bounds after those were lowered.',
      resolve: async ({ id }, _, context) => (await tickets(context).counts.load(id))?.running ?? 0,
    }),
    waitingCount: t.int({
      description: 'Number of objects that wait for it.',
      resolve: async ({ id }, _, context) => (await tickets(context).counts.load(id))?.waiting ?? 0,
    }),
    keys: t.field({
      type: KeyConnection,
      description: 'Keys that objects hold or wait for, in their order.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: nameCursor,
          position: ({ key }: LimitKeyRow) => key,
          load: (window) => tickets(context).keys.load({ id, window }),
          count: async () => (await tickets(context).counts.load(id))?.count ?? 0,
        }),
    }),
    holders: t.field({
      type: TicketConnection,
      description: 'Objects that hold it, in the order in which they asked for it.',
      args: { key: t.arg.string({ limit: 'limitKey', description: KEY }), ...t.arg.connectionArgs() },
      complexity: (args) => pageCost(args),
      resolve: ({ id }, { key = null, ...args }, { pool }) => pageOf(pool, args, { limitId: id, key, isHeld: true }),
    }),
    queue: t.field({
      type: TicketConnection,
      description:
        'Objects that wait for it, in the order in which they asked for it. The highest priority of a kind starts first, and its keys take turns.',
      args: { key: t.arg.string({ limit: 'limitKey', description: KEY }), ...t.arg.connectionArgs() },
      complexity: (args) => pageCost(args),
      resolve: ({ id }, { key = null, ...args }, { pool }) => pageOf(pool, args, { limitId: id, key, isHeld: false }),
    }),
  }),
})

const shown = {
  ...{ field: 'limit', noun: LIMIT.noun, ref: LimitRef, records: limitRecords, right: rights.read },
  ...{ limit: 'name' as const, brand },
}
addRecord(shown)
addRecordList(shown)
