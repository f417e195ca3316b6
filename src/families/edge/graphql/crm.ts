import { builder } from '../../../graphql/builder.ts'
import { ObjectKindEnum, PhaseEnum } from '../../../graphql/enums.ts'
import { answer } from '../../../graphql/errors.ts'
import { eventStream, unpack } from '../../../graphql/event-stream.ts'
import { forbiddenFailure } from '../../../graphql/failures.ts'
import { objectLoader } from '../../../graphql/loaders.ts'
import { TreeObjectRef } from '../../../graphql/refs.ts'
import { resultUnion } from '../../../graphql/result-union.ts'
import type { CrmSession } from '../commands/connect-crm.ts'
import type { CrmRequest } from '../requests-of.ts'
import { CrmRoleEnum } from './cloudlet.ts'
import { requestStream } from './request-stream.ts'

const CrmActionEnum = builder.enumType('CrmAction', { values: ['CREATE', 'UPDATE', 'DELETE'] as const })

const CrmRequestRef = builder.objectRef<CrmRequest>('CrmRequest').implement({
  description:
    'What a CRM is to do for one object. A newer request for the same object replaces this one: stop what is done for it first.',
  fields: (t) => ({
    fence: t.exposeString('fence', {
      description: 'Opaque; hand it back with every report. The same fence is the same request, sent again.',
    }),
    objectId: t.exposeID('objectId'),
    kind: t.expose('kind', { type: ObjectKindEnum }),
    path: t.stringList({ description: 'Names from the cloudlet down.', resolve: ({ path }) => [...path] }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      resolve: ({ objectId }, _, context) => objectLoader(context).load(objectId),
    }),
    action: t.expose('action', { type: CrmActionEnum }),
    operationId: t.exposeID('operationId'),
    specRevision: t.exposeInt('specRevision', { description: 'Tell it with the object when you connect.' }),
    spec: t.expose('spec', {
      type: 'JSON',
      nullable: true,
      description:
        'Null of what is to be deleted; for the cloudlet itself `{ version }`, to which it is to be upgraded.',
    }),
  }),
})

const CrmSessionRef = builder.objectRef<CrmSession & { readonly __typename: 'CrmSession' }>('CrmSession').implement({
  fields: (t) => ({
    epoch: t.exposeInt('epoch'),
    fence: t.exposeString('fence', { description: "The session's own, to be renewed with renewLeases." }),
    leaseUntil: t.expose('leaseUntil', { type: 'DateTime' }),
    requests: t.field({
      type: [CrmRequestRef],
      description: 'What waits for this CRM.',
      complexity: { field: 1, multiplier: 100 },
      resolve: ({ requests }) => [...requests],
    }),
  }),
})

const CrmObjectInput = builder.inputType('CrmObjectInput', {
  fields: (t) => ({
    kind: t.field({ type: ObjectKindEnum, required: true }),
    path: t.stringList({ required: true, description: "Names from the cloudlet down, the cloudlet's first." }),
    phase: t.field({ type: PhaseEnum, required: true }),
    specRevision: t.int(),
  }),
})
const ConnectCrmInput = builder.inputType('ConnectCrmInput', {
  fields: (t) => ({
    cloudletId: t.id({ required: true }),
    instance: t.string({
      required: true,
      description: 'Names the process; the same instance again keeps its epoch and its fences.',
    }),
    role: t.field({ type: CrmRoleEnum, required: true, defaultValue: 'CRM' }),
    version: t.string({ required: true }),
    leaseMs: t.int({ required: true, defaultValue: 30_000 }),
    call: t.int({
      required: true,
      defaultValue: 0,
      description:
        'From 1, one more with each call of the same instance: one that was overtaken on its way is refused, since what it tells is not so any more. 0: calls are not counted.',
    }),
    objects: t.field({
      type: [CrmObjectInput],
      required: true,
      description: 'Everything it has; what is not listed is NOT_PRESENT.',
    }),
  }),
})

builder.mutationField('connectCrm', (t) =>
  t.field({
    type: resultUnion('ConnectCrmResult', CrmSessionRef, [
      'NotFoundError',
      'StaleReportError',
      'ForbiddenError',
      'InvalidInputError',
    ]),
    nullable: true,
    description:
      'A CRM (re)connects: what it has, the new epoch, and the requests that wait for it. StaleReportError: a newer process has taken its place, so it has to end.',
    args: { input: t.arg({ type: ConnectCrmInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'agent',
        () => {
          const objects = input.objects.map(({ kind, path, phase, specRevision }) => ({
            kind,
            path,
            phase,
            specRevision: specRevision ?? null,
          }))
          return context.edge.connectCrm(context.viewer, { ...input, objects })
        },
        ({ session }) => ({ __typename: 'CrmSession' as const, ...session }),
      ),
  }),
)

builder.subscriptionField('crmRequests', (t) =>
  t.field({
    type: CrmRequestRef,
    description:
      'Requests for a connected CRM, those outstanding first; what is not acknowledged is sent again. Ends when a newer epoch connects, or the session is over: connect again then. When its client goes away so does the session.',
    args: { cloudletId: t.arg.id({ required: true }), epoch: t.arg.int({ required: true }) },
    subscribe: (_, { cloudletId, epoch }, context) => {
      const { role, actor } = context.viewer
      if (role !== 'AGENT' || actor !== 'CRM') throw forbiddenFailure('Only a CRM is told of requests.')
      return eventStream(context, (signal) => requestStream(context, { cloudletId, epoch }, signal))
    },
    resolve: (event) => unpack(event),
  }),
)
