import type { FailureCause, ObjectFailure } from '../../core/errors.ts'
import type { ProgressRow } from '../../store/loaders/side-rows.ts'
import type { DeadlineValue } from '../family.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { BlockerReasonEnum, ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { BlockerRef, TreeObjectRef } from '../schema/refs.ts'

/** The small types of which an object's fields are made. */

export const LabelRef = builder
  .objectRef<{ readonly key: string; readonly value: string }>('Label')
  .implement({ fields: (t) => ({ key: t.exposeString('key'), value: t.exposeString('value') }) })

const ErrorCauseRef = builder.objectRef<FailureCause>('ErrorCause').implement({
  fields: (t) => ({
    objectId: t.exposeID('objectId'),
    kind: t.expose('kind', { type: ObjectKindEnum }),
    name: t.exposeString('name'),
    code: t.exposeString('code'),
    message: t.exposeString('message'),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'Null once it is gone.',
      resolve: ({ objectId }, _, context) => objectLoader(context).load(objectId),
    }),
  }),
})

export const ObjectErrorRef = builder.objectRef<ObjectFailure>('ObjectError').implement({
  fields: (t) => ({
    code: t.exposeString('code'),
    message: t.exposeString('message'),
    at: t.field({ type: 'DateTime', resolve: ({ at }) => new Date(at) }),
    causeCount: t.exposeInt('causeCount'),
    causes: t.field({
      type: [ErrorCauseRef],
      description: 'Child objects that caused it, as they were.',
      args: { first: t.arg.int({ required: true, defaultValue: 10 }) },
      resolve: ({ causes }, { first }) => causes.slice(0, Math.max(0, first)),
    }),
  }),
})

export const ProgressRef = builder.objectRef<ProgressRow>('Progress').implement({
  fields: (t) => ({
    step: t.exposeString('step', { nullable: true }),
    value: t.exposeFloat('value', { nullable: true }),
    total: t.exposeFloat('total', { nullable: true }),
    unit: t.exposeString('unit', { nullable: true }),
  }),
})

export const DeadlineRef = builder.objectRef<DeadlineValue>('Deadline').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    since: t.expose('since', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    to: t.expose('to', { type: PhaseEnum, nullable: true, description: 'What happens then, as a phase.' }),
  }),
})

BlockerRef.implement({
  description: 'Something that an object waits for right now.',
  fields: (t) => ({
    reason: t.expose('reason', { type: BlockerReasonEnum }),
    message: t.exposeString('message'),
  }),
  resolveType: (value) => value.__typename,
})
