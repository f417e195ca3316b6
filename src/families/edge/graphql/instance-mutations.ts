import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { edgeCommands } from '../commands/index.ts'
import { instanceRights } from '../rights.ts'
import { LABELS, NAME } from './cloudlet-mutations.ts'
import { AppInstRef, ClusterInstRef } from './instance.ts'

const SPEC = 'A JSON object that only the CRM interprets.'
const GENERATION =
  'Generation that the instance must still have; another one is refused (GENERATION_MISMATCH). Left out or null: any.'
const WITHDRAW =
  'Withdraws a request that the CRM has not acknowledged, and undoes it; if the CRM may have begun it takes it back first. Refused with a TransitionError unless the phase is CREATE_REQUESTED, UPDATE_REQUESTED or DELETE_REQUESTED.'
const REASON = 'Added to the message of the phase change and to the error of the instance. Left out or null: none.'

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
const newInstance = (t: InputBuilder, parent: string) => ({
  name: t.string({ required: true, limit: 'name', description: `${NAME} Unique within the ${parent}.` }),
  labels: t.field({ type: [LabelInput], limit: 'labels', description: LABELS }),
  spec: t.field({ type: 'JSON', required: true, limit: 'json', description: SPEC }),
  idempotencyKey: t.string(IDEMPOTENCY_KEY),
})

builder.mutationField('createClusterInst', (t) =>
  t.fieldWithInput({
    right: instanceRights.CLUSTER_INST.create,
    ...commandResult('CreateClusterInstResult', ClusterInstRef, edgeCommands.createInstance),
    description:
      'Creates a cluster instance on a cloudlet, by a request to its CRM; if that fails the record is deleted. Refused for a name that exists (ALREADY_EXISTS, or BUSY), unless the cloudlet is READY (NOT_READY), and while an upgrade runs or has failed.',
    typeOptions: { description: 'Name, labels and spec of a new cluster instance.' },
    input: {
      cloudletId: t.input.id({ required: true, description: 'Id of its cloudlet, which must be READY.' }),
      ...newInstance(t.input, 'cloudlet'),
    },
    resolve: (_, { input: { cloudletId: parentId, ...input } }, context) =>
      writeObject(context, null, () =>
        context.edge.createInstance(context.viewer, { kind: 'CLUSTER_INST', parentId, ...dropUndefined(input) }),
      ),
  }),
)
builder.mutationField('createAppInst', (t) =>
  t.fieldWithInput({
    right: instanceRights.APP_INST.create,
    ...commandResult('CreateAppInstResult', AppInstRef, edgeCommands.createInstance),
    description:
      'Creates an app instance in a cluster instance, by a request to the CRM; if that fails the record is deleted. Refused for a name that exists (ALREADY_EXISTS, or BUSY), unless the cluster instance is READY (NOT_READY), and while an upgrade runs or has failed.',
    typeOptions: { description: 'Name, labels and spec of a new app instance.' },
    input: {
      clusterInstId: t.input.id({ required: true, description: 'Id of its cluster instance, which must be READY.' }),
      ...newInstance(t.input, 'cluster instance'),
    },
    resolve: (_, { input: { clusterInstId: parentId, ...input } }, context) =>
      writeObject(context, null, () =>
        context.edge.createInstance(context.viewer, { kind: 'APP_INST', parentId, ...dropUndefined(input) }),
      ),
  }),
)

builder.mutationField('deleteClusterInst', (t) =>
  t.fieldWithInput({
    right: instanceRights.CLUSTER_INST.delete,
    ...commandResult('DeleteClusterInstResult', ClusterInstRef, edgeCommands.deleteInstance),
    description:
      'Deletes a cluster instance, by a request to its CRM; if that fails it is READY again. Refused while it has app instances without cascade (IN_USE), unless it and its app instances are READY (BUSY), and while an upgrade of the cloudlet runs or has failed.',
    typeOptions: { description: 'The cluster instance to delete.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the cluster instance.' }),
      cascade: t.input.boolean({
        required: true,
        defaultValue: false,
        description:
          'True if its app instances are deleted first. If one of them cannot be removed the cluster instance is READY again, and its error names it.',
      }),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () =>
        context.edge.deleteInstance(context.viewer, { kind: 'CLUSTER_INST', ...dropUndefined(input) }),
      ),
  }),
)
builder.mutationField('deleteAppInst', (t) =>
  t.fieldWithInput({
    right: instanceRights.APP_INST.delete,
    ...commandResult('DeleteAppInstResult', AppInstRef, edgeCommands.deleteInstance),
    description:
      'Deletes an app instance, by a request to its CRM; if that fails it is READY again. Refused unless it and its cluster instance are READY (BUSY), and while an upgrade of the cloudlet runs or has failed.',
    typeOptions: { description: 'The app instance to delete.' },
    input: { id: t.input.id({ required: true, description: 'Id of the app instance.' }) },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () =>
        context.edge.deleteInstance(context.viewer, { kind: 'APP_INST', cascade: false, ...input }),
      ),
  }),
)

/** The mutations that both kinds have alike. */
for (const { kind, type, ref, a, noun, beside } of [
  {
    kind: 'CLUSTER_INST',
    type: 'ClusterInst',
    ref: ClusterInstRef,
    a: 'a',
    noun: 'cluster instance',
    beside: 'app instances',
  },
  { kind: 'APP_INST', type: 'AppInst', ref: AppInstRef, a: 'an', noun: 'app instance', beside: 'cluster instance' },
] as const) {
  builder.mutationField(`update${type}`, (t) =>
    t.fieldWithInput({
      right: instanceRights[kind].update,
      ...commandResult(`Update${type}Result`, ref, edgeCommands.updateInstance),
      description: `Changes the spec of ${a} ${noun}, by a request to its CRM; if that fails the spec before is restored. The same spec changes nothing, unless the instance is drifted. Refused unless it and its ${beside} are READY (BUSY), and while an upgrade of the cloudlet runs or has failed.`,
      typeOptions: { description: `The new spec of ${a} ${noun}.` },
      input: {
        id: t.input.id({ required: true, description: `Id of the ${noun}.` }),
        spec: t.input.field({ type: 'JSON', required: true, limit: 'json', description: SPEC }),
        expectedGeneration: t.input.int({ description: GENERATION }),
        idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
      },
      resolve: (_, { input }, context) =>
        writeObject(context, input.id, () =>
          context.edge.updateInstance(context.viewer, { kind, ...dropUndefined(input) }),
        ),
    }),
  )
  builder.mutationField(`cancel${type}`, (t) =>
    t.fieldWithInput({
      right: instanceRights[kind].cancel,
      ...commandResult(`Cancel${type}Result`, ref, edgeCommands.cancelInstance),
      description: WITHDRAW,
      typeOptions: { description: `The ${noun} whose request is withdrawn, and why.` },
      input: {
        id: t.input.id({ required: true, description: `Id of the ${noun}.` }),
        reason: t.input.string({ limit: 'reason', description: REASON }),
        idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
      },
      resolve: (_, { input }, context) =>
        writeObject(context, input.id, () =>
          context.edge.cancelInstance(context.viewer, { kind, ...dropUndefined(input) }),
        ),
    }),
  )
}
