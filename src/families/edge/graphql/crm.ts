import { objectOf } from '../../../graphql/loaders.ts'
import { eventStream, unpack } from '../../../graphql/log/event-stream.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { ObjectKindEnum, PhaseEnum } from '../../../graphql/schema/enums.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import type { CrmSession } from '../commands/connect-crm.ts'
import { edgeCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import type { CrmRequest } from '../store/requests-of.ts'
import { CrmRoleEnum } from './cloudlet.ts'
import { requestStream } from './request-stream.ts'

const CrmActionEnum = builder.enumType('CrmAction', {
  description: 'An instruction to a CRM. All of it is idempotent, since a request may come again.',
  values: {
    CREATE: { description: 'Make the instance exist as the spec says.' },
    UPDATE: {
      description: 'Make the instance be as the spec says; for a cloudlet, bring up a CRM of the version in the spec.',
    },
    DELETE: { description: 'Remove the instance; one that does not exist is NOT_PRESENT.' },
  } as const,
})

const CrmRequestRef = builder.objectRef<CrmRequest>('CrmRequest').implement({
  description:
    'A request to a CRM about one object. A newer request for the same object replaces it: the CRM stops the work on the earlier one first.',
  fields: (t) => ({
    fence: t.exposeString('fence', {
      description:
        'Opaque token of the request, sent back with every report. A request with the same fence is the same one again.',
    }),
    objectId: t.exposeID('objectId', { description: 'Id of the object.' }),
    kind: t.expose('kind', {
      type: ObjectKindEnum,
      description: 'CLUSTER_INST or APP_INST; CLOUDLET for the upgrade of the CRM itself.',
    }),
    path: t.stringList({
      description: "Names from the cloudlet down, the cloudlet's first: one to three.",
      resolve: ({ path }) => [...path],
    }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object; null once it is deleted.',
      resolve: objectOf,
    }),
    action: t.expose('action', {
      type: CrmActionEnum,
      description:
        'The action. To take an operation back, it is DELETE for a creation, UPDATE for an update and CREATE for a deletion.',
    }),
    operationId: t.exposeID('operationId', {
      description: 'Id of the creation, update, deletion or upgrade to which the request belongs.',
    }),
    specRevision: t.exposeInt('specRevision', {
      description: 'Revision of the spec, which the CRM reports with the object in connectCrm; 0 for a cloudlet.',
    }),
    spec: t.expose('spec', {
      type: 'JSON',
      nullable: true,
      description:
        'Spec that the instance is to have; null for DELETE. For a cloudlet `{ version }`, the version to upgrade to.',
    }),
  }),
})

const CrmSessionRef = builder.objectRef<CrmSession & { readonly __typename: 'CrmSession' }>('CrmSession').implement({
  description: 'The session of a CRM that has connected.',
  fields: (t) => ({
    epoch: t.exposeInt('epoch', {
      description:
        'Notify epoch of the session, for crmRequests. A process that connects again under its instance keeps it.',
    }),
    fence: t.exposeString('fence', {
      description: 'Opaque token of the session, for renewLeases, and for the report with which CRM_V2 takes over.',
    }),
    leaseUntil: t.expose('leaseUntil', {
      type: 'DateTime',
      description: 'When the session ends unless it is renewed.',
    }),
    requests: t.field({
      type: [CrmRequestRef],
      description:
        'Requests that wait for this CRM; a new process also gets those that an earlier one had begun. Empty for CRM_V2.',
      complexity: { field: 1, multiplier: 100 },
      resolve: ({ requests }) => [...requests],
    }),
  }),
})

const CrmObjectInput = builder.inputType('CrmObjectInput', {
  description: 'An instance that a CRM has.',
  fields: (t) => ({
    kind: t.field({ type: ObjectKindEnum, required: true, description: 'CLUSTER_INST or APP_INST.' }),
    path: t.stringList({
      required: true,
      limit: 'path',
      description:
        "Names from the cloudlet down, the cloudlet's first: two for a cluster instance, three for an app instance.",
    }),
    phase: t.field({
      type: PhaseEnum,
      required: true,
      description: 'READY, NOT_PRESENT, CREATING, UPDATING, DELETING, CREATE_ERROR, UPDATE_ERROR or DELETE_ERROR.',
    }),
    specRevision: t.int({
      description: 'Revision of the spec that it has, from its request. Null or left out: it differs from the record.',
    }),
  }),
})

builder.mutationField('connectCrm', (t) =>
  t.fieldWithInput({
    right: rights.serveCloudlet,
    ...commandResult('ConnectCrmResult', CrmSessionRef, edgeCommands.connectCrm),
    description:
      'Connects a CRM to its cloudlet, for the first time or again: what it has is set against the record (resync), and it gets its epoch and the requests that wait. Refused for a cloudlet that is not among the targets of the principal, by name or by id. StaleReportError: the process was replaced, or no upgrade needs it, and has to end; or a later call has overtaken this one.',
    typeOptions: { description: 'A CRM process, and everything that it has.' },
    input: {
      cloudletId: t.input.id({ required: true, description: 'Id of the cloudlet that it serves.' }),
      instance: t.input.string({
        required: true,
        limit: 'instance',
        description:
          'Name of the process, not empty. The same instance again keeps its epoch and its fences; another one is a new process.',
      }),
      role: t.input.field({
        type: CrmRoleEnum,
        required: true,
        defaultValue: 'CRM',
        description:
          'CRM_V2 for a process that an upgrade brings up, otherwise CRM. An instance that is known keeps its role.',
      }),
      version: t.input.string({
        required: true,
        limit: 'version',
        description:
          'Version of the CRM, ASCII characters without spaces, at least one; it may be newer than the server.',
      }),
      leaseMs: t.input.int({
        required: true,
        defaultValue: 30_000,
        description:
          'Milliseconds until the session ends unless it is renewed; brought into the range of 1,000 to 600,000.',
      }),
      call: t.input.int({
        required: true,
        defaultValue: 0,
        description:
          'Number of this call of the instance, from 1, growing by one. A call that a later one has overtaken is refused (StaleReportError); 0: calls are not counted.',
      }),
      objects: t.input.field({
        type: [CrmObjectInput],
        required: true,
        limit: 'crmObjects',
        description: 'All instances that it has; an instance that is not listed is NOT_PRESENT.',
      }),
    },
    resolve: (_, { input }, context) => {
      const objects = input.objects.map(({ kind, path, phase, specRevision }) => ({
        kind,
        path,
        phase,
        specRevision: specRevision ?? null,
      }))
      return answer(context.edge.connectCrm(context.viewer, { ...input, objects }), ({ session }) => ({
        __typename: 'CrmSession' as const,
        ...session,
      }))
    },
  }),
)

builder.subscriptionField('crmRequests', (t) =>
  t.field({
    right: rights.serveCloudlet,
    type: CrmRequestRef,
    description:
      'Sends the requests of a CRM session, outstanding ones first; one that is not acknowledged is sent again, at the earliest after 5 s. The stream ends when its session ends or gets another stream; a client that ends the stream ends the session.',
    args: {
      cloudletId: t.arg.id({ required: true, description: 'Id of the cloudlet.' }),
      epoch: t.arg.int({ required: true, description: 'Epoch of the session, from connectCrm.' }),
    },
    subscribe: (_, { cloudletId, epoch }, context) =>
      eventStream(context, (signal) => requestStream(context, { cloudletId, epoch }, signal), { place: cloudletId }),
    resolve: (event) => unpack(event),
  }),
)
