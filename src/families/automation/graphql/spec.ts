import { Problems } from '../../../core/problems.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { badInput } from '../../../graphql/schema/limits.ts'
import type { When } from '../../when.ts'
import { normaliseWhen } from '../rules/normalise-schedule.ts'
import { CATCH_UPS, OVERLAPS, type ScheduleSpec } from '../rules/spec.ts'
import { timesInWords } from '../rules/times-in-words.ts'
import { words } from './words.ts'

export const OverlapEnum = builder.enumType('ScheduleOverlap', {
  description: 'How a schedule fires while something runs that it has started before.',
  values: words(
    {
      SKIP: 'The firing is skipped.',
      ALLOW: 'Both run.',
      QUEUE: 'The firing waits for the end; beyond `maxQueued` it is skipped.',
      CANCEL_RUNNING: 'The running one is cancelled once, and the newest firing starts when it has ended.',
    },
    OVERLAPS,
  ),
})
export const CatchUpEnum = builder.enumType('ScheduleCatchUp', {
  description: 'The treatment of times that have passed while nothing could fire.',
  values: words(
    {
      NONE: 'They are skipped. A time that is late by no more than `graceMs` fires.',
      LAST: 'The newest one fires, the others are skipped.',
      ALL: 'The newest `maxCaughtUp` of them fire, the others are skipped.',
    },
    CATCH_UPS,
  ),
})
const EveryRef = builder.objectRef<{ readonly ms: number; readonly offsetMs: number }>('ScheduleEvery').implement({
  description: 'Times at equal distances.',
  fields: (t) => ({
    ms: t.exposeInt('ms', { description: 'The distance, in milliseconds.' }),
    offsetMs: t.exposeInt('offsetMs', {
      description: 'Milliseconds of the times after multiples of `ms` since 1970-01-01T00:00:00Z.',
    }),
  }),
})

export const ScheduleSpecRef = builder.objectRef<ScheduleSpec>('ScheduleSpec').implement({
  description: 'The times of a schedule, and what it starts.',
  fields: (t) => ({
    cron: t.stringList({
      description: 'Lines of cron; empty if `every` or `at` says the times.',
      resolve: ({ cron }) => [...cron],
    }),
    timeZone: t.exposeString('timeZone', { description: 'Name of the time zone of the lines, e.g. Europe/Berlin.' }),
    every: t.field({
      type: EveryRef,
      nullable: true,
      description: 'Equal distances; null otherwise.',
      resolve: ({ every }) => every,
    }),
    words: t.string({
      description: 'Its times in words, such as `every weekday at 02:30 in Berlin`.',
      resolve: timesInWords,
    }),
    at: time(t, 'at', 'The one time; null otherwise.'),
    start: time(t, 'start', 'No time is before it; null: any may be.'),
    until: time(t, 'until', 'No time is after it; null: any may be.'),
    count: t.exposeInt('count', {
      nullable: true,
      description: 'It is FINISHED after this many firings by time; null: never.',
    }),
    jitterMs: t.exposeInt('jitterMs', {
      description: 'Each firing is delayed by up to this many milliseconds, the same at each look.',
    }),
    overlap: t.expose('overlap', {
      type: OverlapEnum,
      description: 'How it fires while something runs that it has started.',
    }),
    maxQueued: t.exposeInt('maxQueued', { description: 'Firings that wait at once, with QUEUE.' }),
    catchUp: t.expose('catchUp', { type: CatchUpEnum, description: 'Its treatment of times that have passed.' }),
    maxCaughtUp: t.exposeInt('maxCaughtUp', { description: 'Times that are caught up at once, with ALL.' }),
    graceMs: t.exposeInt('graceMs', { description: 'Milliseconds after which a time counts as missed.' }),
    successWithinSeconds: t.int({
      nullable: true,
      description: 'It is OVERDUE once nothing that it has started has succeeded for so many seconds; null: never.',
      resolve: ({ successWithinSeconds }) => successWithinSeconds ?? null,
    }),
    run: t.field({
      type: 'JSON',
      description:
        'JSON object of the root that it starts: the trigger as its only key, such as `createEvent`, with its input.',
      resolve: ({ run }) => ({ [run.trigger]: run.input }),
    }),
  }),
})
type SpecFields = PothosSchemaTypes.ObjectFieldBuilder<Types, ScheduleSpec>
function time(t: SpecFields, name: 'at' | 'start' | 'until', description: string) {
  return t.field({
    type: 'DateTime',
    nullable: true,
    description,
    resolve: (spec) => {
      const text = spec[name]
      return text === null ? null : new Date(text)
    },
  })
}

const EveryInput = builder.inputType('ScheduleEveryInput', {
  description: 'Times at equal distances.',
  fields: (t) => ({
    ms: t.int({
      required: true,
      description: 'The distance in milliseconds, at least 1000. For more than 24 days write cron.',
    }),
    offsetMs: t.int({
      description:
        'Milliseconds of the times after multiples of `ms` since 1970-01-01T00:00:00Z, less than `ms`. Left out or null: 0.',
    }),
  }),
})
export const WhenInput = builder.inputType('ScheduleWhenInput', {
  description: 'The times of a schedule: one of cron, every and at.',
  fields: (t) => ({
    cron: t.stringList({
      limit: 'cronLines',
      description:
        'Lines of cron with five fields, or six of which the first are seconds; the times are those of all lines. Left out or null: every or at says the times.',
    }),
    timeZone: t.string({
      limit: 'reference',
      description: 'IANA name of the time zone of the lines. Left out or null: UTC.',
    }),
    every: t.field({ type: EveryInput, description: 'Equal distances. Left out or null: cron or at says the times.' }),
    at: t.field({ type: 'DateTime', description: 'One time. Left out or null: cron or every says the times.' }),
    start: t.field({ type: 'DateTime', description: 'No time is before it. Left out or null: any may be.' }),
    until: t.field({ type: 'DateTime', description: 'No time is after it. Left out or null: any may be.' }),
  }),
})

export function readWhen(when: typeof WhenInput.$inferInput, now: Date): When {
  const problems = new Problems()
  const read = normaliseWhen(dropUndefined(when), { now, path: 'when' }, problems)
  if (problems.found.length > 0)
    throw badInput(problems.found.map(({ path, message }) => `${path} ${message}.`).join(' '))
  return read
}
