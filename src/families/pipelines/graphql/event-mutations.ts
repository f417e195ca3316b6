import type { Outcome } from '../../../core/ports.ts'
import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import type { GraphQLContext } from '../../../graphql/context.ts'
import { PhaseEnum } from '../../../graphql/enums.ts'
import { answer, type ErrorValue } from '../../../graphql/errors.ts'
import { given } from '../../../graphql/given.ts'
import { LabelInput } from '../../../graphql/label-input.ts'
import { objectLoader } from '../../../graphql/loaders.ts'
import { TreeObjectRef } from '../../../graphql/refs.ts'
import { resultUnion } from '../../../graphql/result-union.ts'
import { writeObject } from '../../../graphql/write-object.ts'
import { EventRef } from './event.ts'

const IDEMPOTENCY =
  'Scoped to viewer, project and mutation. Same key, same input, within a day: the object of the first call as it is now; other input: INVALID_INPUT.'

const CreateEventInput = builder.inputType('CreateEventInput', {
  fields: (t) => ({
    project: t.string({ description: 'Left out: one event for each project that has subscribed to it, maybe none.' }),
    source: t.string({ required: true, description: 'Where it comes from, e.g. github.com/acme.' }),
    type: t.string({ required: true, description: 'What has happened, e.g. push.' }),
    qualifiers: t.field({ type: [LabelInput], description: 'A subscription must have exactly these.' }),
    labels: t.field({ type: [LabelInput], description: 'A subscription may ask for some of them.' }),
    payload: t.string({ description: 'Handed to the worker as it is; at most 512 KiB.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY }),
  }),
})
const EventIdInput = (name: string) =>
  builder.inputType(name, {
    fields: (t) => ({ id: t.id({ required: true }), idempotencyKey: t.string({ description: IDEMPOTENCY }) }),
  })
const CancelEventInput = builder.inputType('CancelEventInput', {
  fields: (t) => ({ id: t.id({ required: true }), reason: t.string() }),
})
const DeleteEventInput = builder.inputType('DeleteEventInput', { fields: (t) => ({ id: t.id({ required: true }) }) })
const CancelEventsInput = builder.inputType('CancelEventsInput', {
  description: 'Which events: all that is given must hold.',
  fields: (t) => ({
    project: t.string({ required: true }),
    phases: t.field({ type: [PhaseEnum], required: true, description: 'None of them final.' }),
    source: t.string(),
    type: t.string(),
    qualifiers: t.field({ type: [LabelInput], description: 'Exactly these.' }),
    labels: t.field({ type: [LabelInput], description: 'All of these.' }),
    reason: t.string(),
  }),
})
const DeleteEventsInput = builder.inputType('DeleteEventsInput', {
  description: 'Which events: all that is given must hold.',
  fields: (t) => ({
    project: t.string({ required: true }),
    phases: t.field({ type: [PhaseEnum], required: true }),
    source: t.string(),
    type: t.string(),
    qualifiers: t.field({ type: [LabelInput], description: 'Exactly these.' }),
    labels: t.field({ type: [LabelInput], description: 'All of these.' }),
  }),
})

interface Events {
  readonly __typename: 'CreatedEvents'
  readonly events: readonly ObjectRow[]
  readonly tasks: readonly ObjectRow[]
}
const CreatedEventsRef = builder.objectRef<Events>('CreatedEvents').implement({
  description: 'By project. Empty when nobody has subscribed to it.',
  fields: (t) => ({
    events: t.field({ type: [EventRef], resolve: ({ events }) => [...events] }),
    tasks: t.field({
      type: [TreeObjectRef],
      description: 'Of subscriptions that ask for a task instead of a worker.',
      resolve: ({ tasks }) => [...tasks],
    }),
  }),
})
interface Count<Name extends string> {
  readonly __typename: Name
  readonly count: number
}
const countRef = <Name extends string>(name: Name) =>
  builder.objectRef<Count<Name>>(name).implement({ fields: (t) => ({ count: t.exposeInt('count') }) })
const CanceledEventsRef = countRef('CanceledEvents')
const DeletedEventsRef = countRef('DeletedEvents')

async function writeEvents(
  context: GraphQLContext,
  command: () => Promise<Outcome<{ readonly eventIds: readonly string[]; readonly taskIds: readonly string[] }>>,
): Promise<Events | ErrorValue> {
  return await answer(context, 'write', command, async ({ eventIds, taskIds }) => {
    const load = async (ids: readonly string[]) =>
      (await Promise.all(ids.map((id) => objectLoader(context).load(id)))).filter((row) => row !== null)
    const [events, tasks] = await Promise.all([load(eventIds), load(taskIds)])
    return { __typename: 'CreatedEvents' as const, events, tasks }
  })
}

builder.mutationFields((t) => ({
  createEvent: t.field({
    type: resultUnion('CreateEventResult', CreatedEventsRef, ['InvalidInputError', 'ForbiddenError']),
    nullable: true,
    args: { input: t.arg({ type: CreateEventInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeEvents(context, () => context.pipelines.createEvent(context.viewer, given(input))),
  }),
  cloneEvent: t.field({
    type: resultUnion('CloneEventResult', CreatedEventsRef, ['NotFoundError', 'InvalidInputError', 'ForbiddenError']),
    nullable: true,
    description:
      'The same event once more: through the subscriptions as they are now, if it came through one; else for its project as it is now.',
    args: { input: t.arg({ type: EventIdInput('CloneEventInput'), required: true }) },
    resolve: (_, { input }, context) =>
      writeEvents(context, () => context.pipelines.cloneEvent(context.viewer, given(input))),
  }),
  retryEvent: t.field({
    type: resultUnion('RetryEventResult', EventRef, [
      'NotFoundError',
      'ConflictError',
      'InvalidInputError',
      'ForbiddenError',
    ]),
    nullable: true,
    description:
      'A new event with the worker of one that has ended, as that worker was; jobs of it that succeeded outside of the workspace need not run again. Secrets are those of the project as they are now.',
    args: { input: t.arg({ type: EventIdInput('RetryEventInput'), required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', null, () => context.pipelines.retryEvent(context.viewer, given(input))),
  }),
}))

builder.mutationFields((t) => ({
  cancelEvent: t.field({
    type: resultUnion('CancelEventResult', EventRef, ['NotFoundError', 'TransitionError', 'ForbiddenError']),
    nullable: true,
    args: { input: t.arg({ type: CancelEventInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () => context.pipelines.cancelEvent(context.viewer, given(input))),
  }),
  deleteEvent: t.field({
    type: resultUnion('DeleteEventResult', EventRef, ['NotFoundError', 'ForbiddenError']),
    nullable: true,
    description: 'With its worker and jobs, in any phase. Returns it as it was.',
    args: { input: t.arg({ type: DeleteEventInput, required: true }) },
    resolve: (_, { input }, context) =>
      writeObject(context, 'write', input.id, () => context.pipelines.deleteEvent(context.viewer, input)),
  }),
  cancelEvents: t.field({
    type: resultUnion('CancelEventsResult', CanceledEventsRef, ['InvalidInputError', 'ForbiddenError']),
    nullable: true,
    args: { input: t.arg({ type: CancelEventsInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'write',
        () => context.pipelines.cancelEvents(context.viewer, given(input)),
        ({ count }) => ({ __typename: 'CanceledEvents' as const, count }),
      ),
  }),
  deleteEvents: t.field({
    type: resultUnion('DeleteEventsResult', DeletedEventsRef, ['InvalidInputError', 'ForbiddenError']),
    nullable: true,
    args: { input: t.arg({ type: DeleteEventsInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'write',
        () => context.pipelines.deleteEvents(context.viewer, given(input)),
        ({ count }) => ({ __typename: 'DeletedEvents' as const, count }),
      ),
  }),
}))
