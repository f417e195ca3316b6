import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import type { TriggerInput } from '../../trigger.ts'
import { triggerInputs } from '../../trigger-input.ts'
import { automationCommands } from '../commands/schedules.ts'
import { rights } from '../rights.ts'
import { MAX_BACKFILLED } from '../rules/backfill.ts'
import { ScheduleRef } from './schedule.ts'
import { CatchUpEnum, OverlapEnum, WhenInput } from './spec.ts'

const RunInput = builder.inputType('ScheduleRunInput', {
  description: 'The root that a schedule starts: exactly one of its fields. The caller needs the right of it.',
  fields: (t) =>
    Object.fromEntries(
      [...triggerInputs()].map(([name, { type, description }]) => [name, t.field({ type, description })]),
    ),
})
/** The fields are those of the families that the server has. */
const runOf = (run: object) => run as Readonly<Record<string, TriggerInput | null | undefined>>

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
const specFields = (t: InputBuilder) => ({
  when: t.field({ type: WhenInput, required: true, description: 'The times.' }),
  run: t.field({ type: RunInput, required: true, description: 'The root that it starts.' }),
  labels: t.field({
    type: [LabelInput],
    limit: 'labels',
    description: 'Each key stands once. Left out or null: none.',
  }),
  count: t.int({ description: 'Ends after this many firings by time. Left out or null: never.' }),
  jitterMs: t.int({
    description: 'Delays each firing by up to this many milliseconds, at most an hour. Left out or null: 0.',
  }),
  overlap: t.field({ type: OverlapEnum, description: 'Left out or null: SKIP.' }),
  maxQueued: t.int({ description: 'Firings that wait at once with QUEUE, from 1 to 100. Left out or null: 1.' }),
  catchUp: t.field({ type: CatchUpEnum, description: 'Left out or null: LAST.' }),
  maxCaughtUp: t.int({
    description: 'Times that are caught up at once with ALL, from 1 to 100. Left out or null: 10.',
  }),
  graceMs: t.int({
    description: 'Milliseconds after which a time counts as missed, at most a day. Left out or null: 60000.',
  }),
  successWithinSeconds: t.int({
    description:
      'The log has a change with the reason OVERDUE once nothing that it has started has succeeded for so many seconds. Left out or null: never.',
  }),
})
const ID = { required: true, description: 'Id of the schedule.' } as const

builder.mutationField('createSchedule', (t) =>
  t.fieldWithInput({
    right: rights.create,
    ...commandResult('CreateScheduleResult', ScheduleRef, automationCommands.createSchedule),
    description:
      'Creates a schedule, which is ACTIVE at once. A name that exists (ALREADY_EXISTS) and times of which none is to come are refused.',
    typeOptions: { description: 'A new schedule.' },
    input: {
      project: t.input.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of its project.',
      }),
      name: t.input.string({
        required: true,
        limit: 'name',
        description: 'A letter or _, then letters, digits, _ or -. Unique among the schedules of the project.',
      }),
      ...specFields(t.input),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input: { run, ...input } }, context) =>
      writeObject(context, null, () =>
        context.automation.createSchedule(context.viewer, { ...dropUndefined(input), run: runOf(run) }),
      ),
  }),
)
builder.mutationField('updateSchedule', (t) =>
  t.fieldWithInput({
    right: rights.update,
    ...commandResult('UpdateScheduleResult', ScheduleRef, automationCommands.updateSchedule),
    description:
      'Replaces the times of a schedule and what it starts. From then on it has the rights of the caller. Its next time is after the last one that has fired. `updateLabels` changes its labels.',
    typeOptions: { description: 'The schedule as it is to be.' },
    input: {
      id: t.input.id(ID),
      ...withoutLabels(specFields(t.input)),
      expectedGeneration: t.input.int({
        description: 'Refused (GENERATION_MISMATCH) unless it has this generation. Left out or null: any.',
      }),
    },
    resolve: (_, { input: { run, ...input } }, context) =>
      writeObject(context, input.id, () =>
        context.automation.updateSchedule(context.viewer, { ...dropUndefined(input), run: runOf(run) }),
      ),
  }),
)
builder.mutationField('deleteSchedule', (t) =>
  t.fieldWithInput({
    right: rights.delete,
    ...commandResult('DeleteScheduleResult', ScheduleRef, automationCommands.deleteSchedule),
    description:
      'Deletes a schedule with the list of its firings, and returns it as it was. Its events, tasks and jobs run on.',
    typeOptions: { description: 'The schedule to delete.' },
    input: { id: t.input.id(ID) },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.automation.deleteSchedule(context.viewer, input)),
  }),
)
builder.mutationField('pauseSchedule', (t) =>
  t.fieldWithInput({
    right: rights.pause,
    ...commandResult('PauseScheduleResult', ScheduleRef, automationCommands.pauseSchedule),
    description:
      'Pauses a schedule. Times that pass are skipped, and not caught up. Firings that wait in its queue start all the same.',
    typeOptions: { description: 'The schedule to pause, and why.' },
    input: {
      id: t.input.id(ID),
      reason: t.input.string({ limit: 'reason', description: 'Shown while it is paused. Left out or null: none.' }),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.automation.pauseSchedule(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('resumeSchedule', (t) =>
  t.fieldWithInput({
    right: rights.pause,
    ...commandResult('ResumeScheduleResult', ScheduleRef, automationCommands.resumeSchedule),
    description: 'Lets a schedule fire again, from its next time on.',
    typeOptions: { description: 'The schedule to resume.' },
    input: { id: t.input.id(ID) },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.automation.resumeSchedule(context.viewer, input)),
  }),
)
builder.mutationField('fireSchedule', (t) =>
  t.fieldWithInput({
    right: rights.fire,
    ...commandResult('FireScheduleResult', ScheduleRef, automationCommands.fireSchedule),
    description:
      'Fires a schedule once more, now, under its rules of overlap. The firing stands at the head of `firings`.',
    typeOptions: { description: 'The schedule to fire.' },
    input: { id: t.input.id(ID), idempotencyKey: t.input.string(IDEMPOTENCY_KEY) },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.automation.fireSchedule(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('backfillSchedule', (t) =>
  t.fieldWithInput({
    right: rights.backfill,
    ...commandResult('BackfillScheduleResult', ScheduleRef, automationCommands.backfillSchedule),
    description: `Fires the times of a schedule that lie in a stretch that has passed, at most ${MAX_BACKFILLED}, with its present spec. They use up no \`count\`. Times that have fired are passed over. The backfill stands at the head of \`backfills\`; a schedule has one at a time (ALREADY_EXISTS). It waits while automation is held.`,
    typeOptions: { description: 'The schedule, and the stretch of time.' },
    input: {
      id: t.input.id(ID),
      from: t.input.field({ type: 'DateTime', required: true, description: 'No time is before it.' }),
      until: t.input.field({
        type: 'DateTime',
        description: "No time is after it. It must not be in the future. Left out or null: now, by the server's clock.",
      }),
      overlap: t.input.field({
        type: OverlapEnum,
        description:
          'QUEUE: one after the other, each when nothing runs that the schedule has started. ALLOW: side by side. No other is accepted. Left out or null: QUEUE.',
      }),
      refire: t.input.boolean({
        description: 'Also fires the times that have fired. Left out or null: false.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.automation.backfillSchedule(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('cancelBackfill', (t) =>
  t.fieldWithInput({
    right: rights.backfill,
    ...commandResult('CancelBackfillResult', ScheduleRef, automationCommands.cancelBackfill),
    description:
      'Cancels the backfill of a schedule that runs: times that are still to come are skipped (CANCELLED), and those that have started run on. Refused if none runs (NOT_FOUND).',
    typeOptions: { description: 'The schedule whose backfill is to be cancelled.' },
    input: { id: t.input.id(ID) },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.automation.cancelBackfill(context.viewer, input)),
  }),
)

function withoutLabels<T extends { readonly labels: unknown }>({ labels: _, ...fields }: T): Omit<T, 'labels'> {
  return fields
}
