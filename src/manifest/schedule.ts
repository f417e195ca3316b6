import { z } from 'zod'
import { writeDuration } from '../core/parse-duration.ts'
import { delay, duration, longDuration } from './duration.ts'
import { nameSchema } from './installation.ts'
import { envOf, mapOf, type Pair, pairsOf, type Variable, variablesOf } from './pairs.ts'
import type { TemplateJob } from './project-spec.ts'
import { templateJobs } from './task.ts'
import { textMap as map } from './text-map.ts'
import { writtenJob } from './write-project.ts'
import { withoutEmpty } from './write-yaml.ts'

const text = z.string('must be text: put it in quotes')
const count = z.int32().nonnegative()

/** A document of the kind Schedule. Only the shape is validated here; the server validates times and texts. */
export const scheduleSchema = z.strictObject({
  kind: z.literal('Schedule', 'must be Schedule').optional(),
  name: nameSchema,
  project: nameSchema.optional(),
  labels: map.optional(),
  when: z.strictObject({
    cron: z.union([text.transform((line) => [line]), z.array(text)]).optional(),
    timeZone: text.optional(),
    every: duration
      .optional()
      .describe('Equal distances: a duration from 1s, such as 15m. For more than 24 days write cron.'),
    offset: duration
      .optional()
      .describe(
        'Duration of the times after multiples of `every` since 1970-01-01T00:00:00Z, shorter than `every`. Left out: none.',
      ),
    at: text.optional(),
    start: text.optional(),
    until: text.optional(),
  }),
  run: z.strictObject({
    createEvent: z
      .strictObject({
        ...{ source: text, type: text, qualifiers: map.optional(), labels: map.optional(), payload: text.optional() },
      })
      .optional(),
    reconcileInstallation: z
      .strictObject({ name: text, mode: z.enum(['STANDARD', 'IF_CHANGED', 'FORCE']).optional() })
      .optional(),
    createTask: z.strictObject({ jobs: templateJobs }).optional(),
  }),
  count: count.optional(),
  jitter: duration.optional().describe('Delays each firing by up to this duration, at most 1h. Left out: none.'),
  overlap: z.enum(['SKIP', 'ALLOW', 'QUEUE', 'CANCEL_RUNNING']).optional(),
  maxQueued: count.optional(),
  catchUp: z.enum(['NONE', 'LAST', 'ALL']).optional(),
  maxCaughtUp: count.optional(),
  grace: delay.optional().describe('Duration after which a time counts as missed, at most 24h. Left out: 1m.'),
  successWithin: longDuration
    .optional()
    .describe(
      'The log has a change with the reason OVERDUE once nothing that it has started has succeeded for this duration. Left out: never.',
    ),
})
export type ScheduleManifest = z.infer<typeof scheduleSchema>

/** The input of createSchedule and updateSchedule, apart from name, project and labels. */
export function scheduleInput({
  when,
  run,
  jitter,
  grace,
  successWithin,
  count,
  overlap,
  maxQueued,
  catchUp,
  maxCaughtUp,
}: ScheduleManifest) {
  const { every, offset, ...times } = when
  const { createEvent, createTask, reconcileInstallation } = run
  return {
    when: { ...times, ...(every === undefined ? {} : { every: { ms: every, offsetMs: offset ?? 0 } }) },
    run: {
      ...(createEvent && {
        createEvent: {
          ...createEvent,
          qualifiers: pairsOf(createEvent.qualifiers),
          labels: pairsOf(createEvent.labels),
        },
      }),
      ...(reconcileInstallation && { reconcileInstallation }),
      ...(createTask && {
        createTask: {
          jobs: createTask.jobs.map(({ env, ...job }) => ({
            ...job,
            env: variablesOf(env),
          })),
        },
      }),
    },
    ...{ count: count ?? null, overlap: overlap ?? null, maxQueued: maxQueued ?? null, catchUp: catchUp ?? null },
    ...{ maxCaughtUp: maxCaughtUp ?? null, jitterMs: jitter ?? null, graceMs: grace ?? null },
    successWithinSeconds: successWithin === undefined ? null : Math.ceil(successWithin / 1_000),
  }
}

type Fields = Readonly<Record<string, unknown>>

/** A schedule as the API shows it. */
export interface ShownSchedule {
  readonly name: string
  readonly project: { readonly name: string }
  readonly labels: readonly Pair[]
  readonly spec: {
    readonly cron: readonly string[]
    readonly timeZone: string
    readonly every: { readonly ms: number; readonly offsetMs: number } | null
    readonly at: string | null
    readonly start: string | null
    readonly until: string | null
    readonly count: number | null
    readonly jitterMs: number
    readonly overlap: string
    readonly maxQueued: number
    readonly catchUp: string
    readonly maxCaughtUp: number
    readonly graceMs: number
    readonly successWithinSeconds: number | null
    readonly run: unknown
  }
}

/** The document that makes this schedule. It has each bound, so that other defaults of a later version change none. */
export function scheduleManifest({ name, project, labels, spec }: ShownSchedule): Fields {
  const { cron, timeZone, every, at, start, until, jitterMs, graceMs, successWithinSeconds } = spec
  return {
    ...{ kind: 'Schedule', name, project: project.name },
    ...withoutEmpty({ labels: mapOf(labels) }),
    when: withoutEmpty({
      ...{ cron, timeZone: cron.length > 0 ? timeZone : null },
      every: every && writeDuration(every.ms),
      offset: every && every.offsetMs > 0 ? writeDuration(every.offsetMs) : null,
      ...{ at, start, until },
    }),
    run: writtenRun(spec.run as Fields),
    ...withoutEmpty({ count: spec.count, jitter: jitterMs > 0 ? writeDuration(jitterMs) : null }),
    ...{ overlap: spec.overlap, maxQueued: spec.maxQueued, catchUp: spec.catchUp, maxCaughtUp: spec.maxCaughtUp },
    grace: writeDuration(graceMs),
    ...withoutEmpty({
      successWithin: successWithinSeconds === null ? null : writeDuration(successWithinSeconds * 1_000),
    }),
  }
}

const timeOf = (text: string | undefined): string | null =>
  text === undefined || Number.isNaN(Date.parse(text)) ? (text ?? null) : new Date(text).toISOString()

/** The document as `export` prints it once it is applied, with the defaults of the server. */
export function appliedSchedule(manifest: ScheduleManifest & { readonly project: string }): Fields {
  const { name, project, labels = {} } = manifest
  const { when, run, ...spec } = scheduleInput(manifest)
  return scheduleManifest({
    ...{ name, project: { name: project }, labels: pairsOf(labels) },
    spec: {
      ...{ cron: when.cron ?? [], timeZone: when.timeZone ?? 'UTC', every: when.every ?? null },
      ...{ at: timeOf(when.at), start: timeOf(when.start), until: timeOf(when.until) },
      ...{ count: spec.count, jitterMs: spec.jitterMs ?? 0, overlap: spec.overlap ?? 'SKIP' },
      ...{ maxQueued: spec.maxQueued ?? 1, catchUp: spec.catchUp ?? 'LAST', maxCaughtUp: spec.maxCaughtUp ?? 10 },
      ...{ graceMs: spec.graceMs ?? 60_000, successWithinSeconds: spec.successWithinSeconds, run },
    },
  })
}

/** As `createTask` was given it. */
type GivenJob = Omit<TemplateJob, 'env'> & { readonly env?: readonly Variable[] | null }

function writtenRun({ createEvent, reconcileInstallation, createTask }: Fields): Fields {
  if (createEvent) {
    const { source, type, qualifiers, labels, payload = null } = createEvent as Fields
    const maps = { qualifiers: mapOf((qualifiers ?? []) as Pair[]), labels: mapOf((labels ?? []) as Pair[]) }
    return { createEvent: { source, type, ...withoutEmpty({ ...maps, payload }) } }
  }
  if (reconcileInstallation) return { reconcileInstallation: withoutEmpty(reconcileInstallation as Fields) }
  const { jobs } = createTask as { readonly jobs: readonly GivenJob[] }
  return { createTask: { jobs: jobs.map(({ env, ...job }) => writtenJob({ ...job, env: envOf(env ?? []) })) } }
}
