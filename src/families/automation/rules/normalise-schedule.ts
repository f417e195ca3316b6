import type { Problems } from '../../../core/problems.ts'
import type { Trigger, TriggerInput } from '../../trigger.ts'
import { checkCron, timesAfter, type When } from '../../when.ts'
import type { CatchUp, Overlap, Run, ScheduleSpec } from './spec.ts'

/** Converts API input about schedules. */

export interface WhenInput {
  readonly cron?: readonly string[] | null
  readonly timeZone?: string | null
  readonly every?: { readonly ms: number; readonly offsetMs?: number | null } | null
  readonly at?: Date | null
  readonly start?: Date | null
  readonly until?: Date | null
}
export interface ScheduleInput {
  readonly when: WhenInput
  readonly count?: number | null
  readonly jitterMs?: number | null
  readonly overlap?: Overlap | null
  readonly maxQueued?: number | null
  readonly catchUp?: CatchUp | null
  readonly maxCaughtUp?: number | null
  readonly graceMs?: number | null
  readonly successWithinSeconds?: number | null
  /** One of them. */
  readonly run: Readonly<Record<string, TriggerInput | null | undefined>>
}

const BOUNDS = {
  everyMs: { min: 1_000, max: 2_147_483_647 },
  count: { min: 1, max: 1_000_000_000 },
  jitterMs: { min: 0, max: 3_600_000 },
  maxQueued: { min: 1, max: 100 },
  maxCaughtUp: { min: 1, max: 100 },
  graceMs: { min: 0, max: 86_400_000 },
  successWithinSeconds: { min: 1, max: 2_147_483_647 },
} as const

export function normaliseSchedule(
  input: ScheduleInput,
  now: Date,
  triggers: Readonly<Record<string, Trigger>>,
  problems: Problems,
): ScheduleSpec {
  const when = normaliseWhen(input.when, { now, path: 'input.when' }, problems)
  const number = (name: Exclude<keyof typeof BOUNDS, 'everyMs'>, otherwise: number): number => {
    const value = input[name] ?? otherwise
    const { min, max } = BOUNDS[name]
    if (value < min || value > max) problems.add(`input.${name}`, `must be from ${min} to ${max}`)
    return value
  }
  if (when.every && (input.jitterMs ?? 0) > when.every.ms)
    problems.add('input.jitterMs', 'must not be more than the distance of the times')
  return {
    ...when,
    count: input.count === null || input.count === undefined ? null : number('count', 1),
    jitterMs: number('jitterMs', 0),
    overlap: input.overlap ?? 'SKIP',
    maxQueued: number('maxQueued', 1),
    catchUp: input.catchUp ?? 'LAST',
    maxCaughtUp: number('maxCaughtUp', 10),
    graceMs: number('graceMs', 60_000),
    ...(typeof input.successWithinSeconds === 'number' && { successWithinSeconds: number('successWithinSeconds', 1) }),
    run: normaliseRun(input.run, triggers, problems),
  }
}

/** `nextTimes` asks for these alone. */
export function normaliseWhen(
  input: WhenInput,
  { now, path }: { readonly now: Date; readonly path: string },
  problems: Problems,
): When {
  const { cron, every, at, start, until } = input
  const timeZone = input.timeZone ?? 'UTC'
  const given = [cron, every, at].filter((one) => one !== null && one !== undefined)
  if (given.length !== 1) problems.add(path, 'must have one of cron, every and at')
  checkCron({ cron: cron ?? [], timeZone }, { now, path }, problems)
  if (cron?.length === 0) problems.add(`${path}.cron`, 'must not be empty')
  const { min, max } = BOUNDS.everyMs
  if (every && (every.ms < min || every.ms > max)) problems.add(`${path}.every.ms`, `must be from ${min} to ${max}`)
  if (every && ((every.offsetMs ?? 0) < 0 || (every.offsetMs ?? 0) >= every.ms))
    problems.add(`${path}.every.offsetMs`, 'must be at least 0, and less than ms')
  if (start && until && start > until) problems.add(`${path}.until`, 'must not be before start')
  const text = (time: Date | null | undefined) => time?.toISOString() ?? null
  return {
    ...{ cron: cron ?? [], timeZone, every: every ? { ms: every.ms, offsetMs: every.offsetMs ?? 0 } : null },
    ...{ at: text(at), start: text(start), until: text(until) },
  }
}

function normaliseRun(run: ScheduleInput['run'], triggers: Readonly<Record<string, Trigger>>, problems: Problems): Run {
  const given = Object.entries(run).flatMap(([trigger, input]) => (input ? [{ trigger, input }] : []))
  const [only = { trigger: '', input: {} }] = given
  if (given.length !== 1) problems.add('input.run', 'must have one of its fields')
  else if (!Object.hasOwn(triggers, only.trigger))
    problems.add(`input.run.${only.trigger}`, 'is of a family that this server does not have')
  return only
}

/** The first times of a schedule after a moment. */
export const firstTimes = (when: When, after: Date, count: number): readonly Date[] =>
  timesAfter(when, after).take(Math.max(0, count)).toArray()
