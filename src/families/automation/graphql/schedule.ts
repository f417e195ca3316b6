import type { ObjectRow } from '../../../core/tree.ts'
import { addHealthFacts, MAX_FACTS } from '../../../graphql/health/facts.ts'
import { sideField, specLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { connect } from '../../../graphql/schema/connection.ts'
import { uuidCursor } from '../../../graphql/schema/cursors.ts'
import { badInput, pageCost } from '../../../graphql/schema/limits.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { isTimeZone, jitterOf } from '../../when.ts'
import { rights } from '../rights.ts'
import { firstTimes } from '../rules/normalise-schedule.ts'
import type { ScheduleSpec } from '../rules/spec.ts'
import { timesInWords } from '../rules/times-in-words.ts'
import type { BackfillRow } from '../store/backfills.ts'
import { type FiringRow, troubledSchedules } from '../store/firings.ts'
import { BackfillConnection } from './backfill.ts'
import { DayRef, FiringConnection } from './firing.ts'
import { backfillLoaders, daysLoader, firingsOfSchedule, scheduleLoader } from './loaders.ts'
import { readWhen, ScheduleSpecRef, WhenInput } from './spec.ts'

/** Bounds the list of times that are to come. */
export const MAX_TIMES = 50
/** Bounds the days that are counted together. */
const MAX_DAYS = 62
const DAY_MS = 86_400_000

export const ScheduleRef = builder.objectRef<ObjectRow>('Schedule').implement({
  description: 'Times at which something starts by itself, each of them once.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    scheduleSpec: t.field({
      type: ScheduleSpecRef,
      nullable: true,
      description: 'Its times, and what it starts; null once it is deleted.',
      resolve: async ({ id }, _, context) =>
        ((await specLoader(context).load(id))?.spec as ScheduleSpec | undefined) ?? null,
    }),
    due: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Its next time, without the delay of `jitterMs`; null if it is PAUSED or FINISHED.',
      resolve: sideField(scheduleLoader, 'due', null),
    }),
    nextTimes: t.field({
      type: ['DateTime'],
      args: {
        first: t.arg.int({
          defaultValue: 10,
          description: `Length of the list, at most ${MAX_TIMES}. Left out or null: 10.`,
        }),
      },
      complexity: ({ first }) => first ?? 10,
      description: 'The times at which it fires next, with the delay of `jitterMs`; empty if it is PAUSED or FINISHED.',
      resolve: async ({ id }, { first }, context) => {
        const [side, found] = await Promise.all([scheduleLoader(context).load(id), specLoader(context).load(id)])
        const spec = found?.spec as ScheduleSpec | undefined
        if (!side?.due || !spec) return []
        const most = Math.min(
          Math.max(first ?? 10, 0),
          MAX_TIMES,
          (spec.count ?? Number.POSITIVE_INFINITY) - side.firedCount,
        )
        const times = [side.due, ...firstTimes(spec, side.due, most - 1)].slice(0, most)
        return times.map((due) => new Date(due.getTime() + jitterOf(id, due, spec.jitterMs)))
      },
    }),
    firedCount: t.int({
      description: 'Number of firings by time. Skipped ones and those by hand do not count.',
      resolve: sideField(scheduleLoader, 'firedCount', 0),
    }),
    editor: t.string({
      nullable: true,
      description:
        'Name of who has edited it last: its firings have the rights of that principal, and no more. Null once it is deleted.',
      resolve: async ({ id }, _, context) => (await scheduleLoader(context).load(id))?.editor?.name ?? null,
    }),
    pausedBecause: t.string({
      nullable: true,
      description: 'The reason that was given when it was paused; null without one, and when it is not paused.',
      resolve: sideField(scheduleLoader, 'pausedBecause', null),
    }),
    firings: t.field({
      type: FiringConnection,
      description:
        'Its last thousand firings by time and by hand, the newest first; `backfills` has those of backfills.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: uuidCursor,
          position: (firing: FiringRow) => firing.id,
          load: (window) => firingsOfSchedule(context).pages.load({ id, window }),
          count: () => firingsOfSchedule(context).counts.load(id),
        }),
    }),
    days: t.field({
      type: [DayRef],
      description: `Days with firings that are kept, those of backfills with them, in a stretch of at most ${MAX_DAYS} days.`,
      args: {
        from: t.arg({ type: 'DateTime', required: true, description: 'No time is before it.' }),
        until: t.arg({ type: 'DateTime', required: true, description: 'All times are before it.' }),
        timeZone: t.arg.string({
          limit: 'reference',
          defaultValue: 'UTC',
          description: 'IANA name of the time zone in which days begin. Left out or null: UTC.',
        }),
      },
      complexity: { field: 10 },
      resolve: ({ id }, { from, until, timeZone }, context) => {
        const zone = timeZone ?? 'UTC'
        if (!isTimeZone(zone)) throw badInput('timeZone is no time zone: write a name such as Europe/Berlin.')
        if (until.getTime() - from.getTime() > MAX_DAYS * DAY_MS)
          throw badInput(`from and until are more than ${MAX_DAYS} days apart.`)
        return daysLoader(context)
          .load({ id, stretch: { from, until, timeZone: zone } })
          .then((days) => [...days])
      },
    }),
    backfills: t.field({
      type: BackfillConnection,
      description: 'Its last hundred backfills, the newest first. At most one of them runs.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: uuidCursor,
          position: (backfill: BackfillRow) => backfill.id,
          load: (window) => backfillLoaders(context).pages.load({ id, window }),
          count: () => backfillLoaders(context).counts.load(id),
        }),
    }),
  }),
})

addHealthFacts('schedules', rights.read, async ({ pool }, projects) =>
  (await troubledSchedules(pool, projects, MAX_FACTS)).map(
    ({ id, name, project, isOverdue, lastDue, refusedAt, reason }) => ({
      subject: { project, name, object: { id, rootId: id } },
      overdue: isOverdue ? { since: lastDue, message: 'Nothing that it has started has succeeded in time.' } : null,
      refused: refusedAt && { since: refusedAt, message: reason ?? 'Its last firing was refused.' },
    }),
  ),
)

builder.queryField('nextTimes', (t) =>
  t.field({
    right: rights.read,
    type: ['DateTime'],
    nullable: true,
    description:
      'The next times of a schedule that is not written yet; fewer if no more are to come. Refused with BAD_USER_INPUT if `when` has none of the forms. Null only together with an entry in `errors`.',
    args: {
      when: t.arg({ type: WhenInput, required: true, description: 'The times.' }),
      first: t.arg.int({
        defaultValue: 10,
        description: `Length of the list, at most ${MAX_TIMES}. Left out or null: 10.`,
      }),
    },
    complexity: ({ first }) => first ?? 10,
    resolve: (_, { when, first }, { system }) => [
      ...firstTimes(readWhen(when, system.now()), system.now(), Math.min(Math.max(first ?? 10, 0), MAX_TIMES)),
    ],
  }),
)
builder.queryField('timesInWords', (t) =>
  t.string({
    right: rights.read,
    nullable: true,
    description:
      'The times of a schedule that is not written yet in words, such as `every weekday at 02:30 in Berlin`. Refused with BAD_USER_INPUT if `when` has none of the forms. Null only together with an entry in `errors`.',
    args: { when: t.arg({ type: WhenInput, required: true, description: 'The times.' }) },
    resolve: (_, { when }, { system }) => timesInWords(readWhen(when, system.now())),
  }),
)
