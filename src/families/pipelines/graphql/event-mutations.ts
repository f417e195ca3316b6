import type { Refusal } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { ObjectRow } from '../../../core/tree.ts'
import type { GraphQLContext } from '../../../graphql/context.ts'
import { objectLoader } from '../../../graphql/loaders.ts'
import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { IF_UNCHANGED } from '../../../graphql/objects/object-version.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { PhaseEnum } from '../../../graphql/schema/enums.ts'
import { answer, type ErrorValue } from '../../../graphql/schema/errors.ts'
import { TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import type { Created } from '../commands/create-event.ts'
import { pipelinesCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import { EventRef } from './event.ts'

const REASON = 'Added to the message of the phase change and to the error of the worker. Left out or null: none.'
const FILTER = {
  project: 'Name of the project. One that does not exist is refused.',
  phases: 'Phases of which an event must have one; at least one.',
  source: 'Source that an event must have. Left out or null: any.',
  type: 'Type that an event must have. Left out or null: any.',
  qualifiers: 'Pairs that must be all qualifiers of an event. Left out or null: any.',
  labels: 'Pairs that must be among the labels of an event. Left out or null: any.',
} as const

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
const eventFields = (t: InputBuilder) => ({
  id: t.id({ required: true, description: 'Id of the event.' }),
  idempotencyKey: t.string(IDEMPOTENCY_KEY),
})

interface Events {
  readonly __typename: 'CreatedEvents'
  readonly events: readonly ObjectRow[]
  readonly tasks: readonly ObjectRow[]
}
const CreatedEventsRef = builder.objectRef<Events>('CreatedEvents').implement({
  description: 'Objects that an event has created; none if no subscription matches.',
  fields: (t) => ({
    events: t.field({
      type: [EventRef],
      description: 'One event for each project that gets it, by name of the project.',
      resolve: ({ events }) => [...events],
    }),
    tasks: t.field({
      type: [TreeObjectRef],
      description:
        'One task for each matching subscription with a task, by name of the project. None if createEvent names a project.',
      resolve: ({ tasks }) => [...tasks],
    }),
  }),
})
interface Count<Name extends string> {
  readonly __typename: Name
  readonly count: number
}
const countRef = <Name extends string>(name: Name, done: string) =>
  builder.objectRef<Count<Name>>(name).implement({
    description: `Result of a request that has ${done} events by a filter.`,
    fields: (t) => ({
      count: t.exposeInt('count', {
        description: `Count of events that were ${done}. Events that have left the given phases meanwhile are not among them.`,
      }),
    }),
  })
const CanceledEventsRef = countRef('CanceledEvents', 'cancelled')
const DeletedEventsRef = countRef('DeletedEvents', 'deleted')

async function writeEvents<R extends Refusal>(
  context: GraphQLContext,
  command: Promise<Outcome<Created, R>>,
): Promise<Events | ErrorValue<R['type']>> {
  return await answer(command, async ({ eventIds, events: created, taskIds }) => {
    const known = new Map(created.map(({ row }) => [row.id, row]))
    const load = async (ids: readonly string[]) =>
      (await Promise.all(ids.map((id) => known.get(id) ?? objectLoader(context).load(id)))).filter(
        (row) => row !== null,
      )
    const [events, tasks] = await Promise.all([load(eventIds), load(taskIds)])
    return { __typename: 'CreatedEvents' as const, events, tasks }
  })
}

builder.mutationField('createEvent', (t) =>
  t.fieldWithInput({
    right: rights.createEvent,
    ...commandResult('CreateEventResult', CreatedEventsRef, pipelinesCommands.createEvent),
    description:
      'Creates an event in one project, or in each with a subscription that matches, and starts its worker when a slot is free. A project without worker template is refused (INVALID_INPUT).',
    typeOptions: { description: 'An occurrence, for one project or for all that have subscribed to it.' },
    input: {
      project: t.input.string({
        limit: 'reference',
        description:
          'Project that gets the event; it must have a worker template. Left out or null: every project of the caller with a subscription that matches gets one event, maybe none does.',
      }),
      source: t.input.string({
        required: true,
        limit: 'word',
        description: 'Origin of the event, e.g. github.com/acme; one line, not empty.',
      }),
      type: t.input.string({
        required: true,
        limit: 'word',
        description: 'The event at the source, e.g. push; one line, not empty, and not `*`.',
      }),
      qualifiers: t.input.field({
        type: [LabelInput],
        limit: 'labels',
        description: 'Pairs that the qualifiers of a subscription must equal. Left out or null: none.',
      }),
      labels: t.input.field({
        type: [LabelInput],
        limit: 'labels',
        description: 'Pairs of which a subscription may require some. Left out or null: none.',
      }),
      payload: t.input.string({
        limit: 'payload',
        description: 'Text for the worker. Left out or null: none.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeEvents(context, context.pipelines.createEvent(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('cloneEvent', (t) =>
  t.fieldWithInput({
    right: rights.createEvent,
    ...commandResult('CloneEventResult', CreatedEventsRef, pipelinesCommands.cloneEvent),
    description:
      'Creates an event again: through the subscriptions as they are now if it came through one, otherwise in its project as it is now.',
    typeOptions: { description: 'The event to clone.' },
    input: eventFields(t.input),
    resolve: (_, { input }, context) =>
      writeEvents(context, context.pipelines.cloneEvent(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('retryEvent', (t) =>
  t.fieldWithInput({
    right: rights.createEvent,
    ...commandResult('RetryEventResult', EventRef, pipelinesCommands.retryEvent),
    description:
      'Creates an event with the worker of one that has ended, as that worker was, and the secrets of the project as they are now. Jobs that succeeded outside of the workspace are inherited and do not run again. An event that has not ended is refused (BUSY).',
    typeOptions: { description: 'The event to retry.' },
    input: eventFields(t.input),
    resolve: (_, { input }, context) =>
      writeObject(context, null, () => context.pipelines.retryEvent(context.viewer, dropUndefined(input))),
  }),
)

builder.mutationField('cancelEvent', (t) =>
  t.fieldWithInput({
    right: rights.cancelEvent,
    ...commandResult('CancelEventResult', EventRef, pipelinesCommands.cancelEvent),
    description:
      'Cancels the worker of an event, and with it all its jobs: those that wait for a slot are CANCELED, the others ABORTED and stopped. An event that has ended is refused with a TransitionError.',
    typeOptions: { description: 'The event to cancel, and why.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the event.' }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      reason: t.input.string({ limit: 'reason', description: REASON }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.pipelines.cancelEvent(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('deleteEvent', (t) =>
  t.fieldWithInput({
    right: rights.deleteEvent,
    ...commandResult('DeleteEventResult', EventRef, pipelinesCommands.deleteEvent),
    description:
      'Deletes an event with its worker and jobs, in any phase, and returns it as it was. Processes are stopped and resources removed at once.',
    typeOptions: { description: 'The event to delete.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the event.' }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.pipelines.deleteEvent(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('cancelEvents', (t) =>
  t.fieldWithInput({
    right: rights.cancelEvent,
    ...commandResult('CancelEventsResult', CanceledEventsRef, pipelinesCommands.cancelEvents),
    description:
      'Cancels all events of a project that match, each like cancelEvent. A malformed filter is refused and cancels nothing.',
    typeOptions: { description: 'The events to cancel: those for which every given field holds.' },
    input: {
      project: t.input.string({ required: true, limit: 'reference', description: FILTER.project }),
      phases: t.input.field({
        type: [PhaseEnum],
        required: true,
        limit: 'choices',
        description: `${FILTER.phases} A final one is refused.`,
      }),
      source: t.input.string({ limit: 'word', description: FILTER.source }),
      type: t.input.string({ limit: 'word', description: FILTER.type }),
      qualifiers: t.input.field({ type: [LabelInput], limit: 'labels', description: FILTER.qualifiers }),
      labels: t.input.field({ type: [LabelInput], limit: 'labels', description: FILTER.labels }),
      reason: t.input.string({ limit: 'reason', description: REASON }),
    },
    resolve: (_, { input }, context) =>
      answer(context.pipelines.cancelEvents(context.viewer, dropUndefined(input)), ({ count }) => ({
        __typename: 'CanceledEvents' as const,
        count,
      })),
  }),
)
builder.mutationField('deleteEvents', (t) =>
  t.fieldWithInput({
    right: rights.deleteEvent,
    ...commandResult('DeleteEventsResult', DeletedEventsRef, pipelinesCommands.deleteEvents),
    description:
      'Deletes all events of a project that match, each like deleteEvent. A malformed filter is refused and deletes nothing.',
    typeOptions: { description: 'The events to delete: those for which every given field holds.' },
    input: {
      project: t.input.string({ required: true, limit: 'reference', description: FILTER.project }),
      phases: t.input.field({ type: [PhaseEnum], required: true, limit: 'choices', description: FILTER.phases }),
      source: t.input.string({ limit: 'word', description: FILTER.source }),
      type: t.input.string({ limit: 'word', description: FILTER.type }),
      qualifiers: t.input.field({ type: [LabelInput], limit: 'labels', description: FILTER.qualifiers }),
      labels: t.input.field({ type: [LabelInput], limit: 'labels', description: FILTER.labels }),
    },
    resolve: (_, { input }, context) =>
      answer(context.pipelines.deleteEvents(context.viewer, dropUndefined(input)), ({ count }) => ({
        __typename: 'DeletedEvents' as const,
        count,
      })),
  }),
)
