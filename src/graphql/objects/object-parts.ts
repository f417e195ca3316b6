import { type FailureCause, type ObjectFailure, rootCauseOf } from '../../core/errors.ts'
import type { TreeCounts } from '../../store/loaders/find-objects.ts'
import type { ProgressRow } from '../../store/loaders/side-rows.ts'
import type { DeadlineValue } from '../family.ts'
import { objectOf } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { FIRST_ENTRIES } from '../schema/descriptions.ts'
import { BlockerReasonEnum, ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { BlockerRef, TreeObjectRef } from '../schema/refs.ts'

/** The small types that the fields of an object have. */

export const LabelRef = builder.objectRef<{ readonly key: string; readonly value: string }>('Label').implement({
  description: 'A pair that users put on an object, to find it by.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Unique among the labels of the object.' }),
    value: t.exposeString('value', { description: 'May be empty.' }),
  }),
})

export const TreeCountsRef = builder.objectRef<TreeCounts>('TreeCounts').implement({
  description: 'Counts of the objects of one tree, its root among them.',
  fields: (t) => ({
    all: t.exposeInt('all', { description: 'All objects of the tree.' }),
    finished: t.exposeInt('finished', {
      description:
        'Objects with `finished: true`: the running job has nothing left to do for them. Failed ones count too.',
    }),
  }),
})

/** A variable of a program that an agent starts. */
export const EnvVariableRef = builder
  .objectRef<{ readonly name: string; readonly value: string }>('EnvVariable')
  .implement({
    description: 'An environment variable of a worker, a job or a gadget.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'Letters, digits and _, at most 128 characters.' }),
      value: t.exposeString('value', { description: 'Text, readable by all who may read the object.' }),
    }),
  })

const ErrorCauseRef = builder.objectRef<FailureCause>('ErrorCause').implement({
  description: 'A child whose error is a cause of the error of its parent, as it was then.',
  fields: (t) => ({
    objectId: t.exposeID('objectId', { description: 'Id of the child.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the child.' }),
    name: t.exposeString('name', { description: 'Name of the child.' }),
    code: t.exposeString('code', { description: 'Code of the error of the child.' }),
    message: t.exposeString('message', { description: 'Message of the error of the child.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The child as it is now; null once it is deleted, or if the viewer may not read it.',
      resolve: objectOf,
    }),
  }),
})

export const ObjectErrorRef = builder.objectRef<ObjectFailure>('ObjectError').implement({
  description: 'Why an object is not in the phase that was wanted.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description: 'For programs, e.g. PICKUP_TIMEOUT; agents report codes of their own.',
    }),
    message: t.exposeString('message', { description: 'The failure, for people.' }),
    at: t.field({ type: 'DateTime', description: 'When it failed.', resolve: ({ at }) => new Date(at) }),
    causeCount: t.exposeInt('causeCount', {
      description: 'Count of all children that caused it; `causes` may hold fewer. 0 if none did.',
    }),
    causes: t.field({
      type: [ErrorCauseRef],
      description: 'Children that caused it, as they were; empty if none did.',
      args: { first: t.arg.int({ required: true, defaultValue: 10, description: FIRST_ENTRIES }) },
      resolve: ({ causes }, { first }) => causes.slice(0, Math.max(0, first)),
    }),
    rootCause: t.field({
      type: ErrorCauseRef,
      nullable: true,
      description:
        'The object below it that failed by itself, as it was then: the first of `causes`, then the first of its own, and so on; null if none did.',
      resolve: rootCauseOf,
    }),
  }),
})

export const ProgressRef = builder.objectRef<ProgressRow>('Progress').implement({
  description: 'How far the work of an agent has come, as the agent reported it.',
  fields: (t) => ({
    step: t.exposeString('step', { nullable: true, description: 'Step that runs; null if none is reported.' }),
    value: t.exposeFloat('value', {
      nullable: true,
      description: 'How much is done, in `unit`; null if it is not reported.',
    }),
    total: t.exposeFloat('total', {
      nullable: true,
      description: 'Value at which the work is complete, in `unit`; null if it is not reported.',
    }),
    unit: t.exposeString('unit', {
      nullable: true,
      description: 'Unit of `value` and `total`, e.g. bytes; null if they have none.',
    }),
  }),
})

export const DeadlineRef = builder.objectRef<DeadlineValue>('Deadline').implement({
  description: 'A clock that runs for an object.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The clock, e.g. pickup.' }),
    since: t.expose('since', { type: 'DateTime', description: 'When the clock was started.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the clock expires.' }),
    to: t.expose('to', {
      type: PhaseEnum,
      nullable: true,
      description: 'Phase of the object once the clock has expired; null if its phase does not change.',
    }),
    message: t.exposeString('message', { description: 'The effect of its end, for people.' }),
  }),
})

BlockerRef.implement({
  description: 'Something that an object waits for right now.',
  fields: (t) => ({
    reason: t.expose('reason', { type: BlockerReasonEnum, description: 'The blocker, for programs.' }),
    message: t.exposeString('message', { description: 'The blocker, for people.' }),
    source: t.field({
      type: TreeObjectRef,
      nullable: true,
      description:
        'The object that has the blocker itself, and of which `message` speaks, such as a deploy item below; null: the object of `blockedBy` does, or the viewer may not read the other one.',
      resolve: ({ sourceId }, _, context) =>
        sourceId === undefined ? null : objectOf({ objectId: sourceId }, _, context),
    }),
  }),
  resolveType: (value) => value.__typename,
})
