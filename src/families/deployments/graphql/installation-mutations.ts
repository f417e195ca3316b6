import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { IF_UNCHANGED } from '../../../graphql/objects/object-version.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY, INPUT_ARGUMENT } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { deploymentsCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import { InstallationSpecInput } from './inputs.ts'
import { InstallationRef } from './installation.ts'
import { ReconcileModeEnum } from './reconcile-mode.ts'

const ID = 'Id of the root installation.'

type InputFields = Parameters<NonNullable<Parameters<typeof builder.inputType>[1]['fields']>>[0]

/** Fields that need no job: a creation and an update take the same. */
const settings = (t: InputFields, omitted: string) => ({
  labels: t.field({
    type: [LabelInput],
    limit: 'labels',
    description: `Labels, as a whole. Each key stands once. Left out or null: ${omitted}.`,
  }),
  description: t.string({ limit: 'description', description: `A sentence for people. Left out or null: ${omitted}.` }),
  ignored: t.boolean({
    description: `True if the installation, and all below it, gets no job any more once it is in a final phase. Left out or null: ${omitted === 'none' ? 'false' : omitted}.`,
  }),
})

export const CreateInstallationInput = builder.inputType('CreateInstallationInput', {
  description: 'Name, settings and spec of a new installation.',
  fields: (t) => ({
    project: t.string({
      required: true,
      defaultValue: 'default',
      limit: 'reference',
      description: 'Name of its project.',
    }),
    name: t.string({
      required: true,
      limit: 'name',
      description: 'A letter or _, then letters, digits, _ or -. Unique among the installations of the project.',
    }),
    ...settings(t, 'none'),
    spec: t.field({ type: InstallationSpecInput, required: true, description: 'Its parts.' }),
    reconcile: t.boolean({ required: true, defaultValue: true, description: 'True if a job begins at once.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})
export const UpdateInstallationInput = builder.inputType('UpdateInstallationInput', {
  description: 'Changes of an installation. A field that is left out or null changes nothing.',
  fields: (t) => ({
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
    id: t.id({ required: true, description: 'Id of the installation; a spec is that of a root.' }),
    spec: t.field({ type: InstallationSpecInput, description: 'New spec, as a whole.' }),
    ...settings(t, 'as it is'),
    expectedGeneration: t.int({
      description: 'Generation that the installation must be at; otherwise nothing is written (GENERATION_MISMATCH).',
    }),
    ifUnchanged: t.field(IF_UNCHANGED),
    reconcile: t.boolean({
      required: true,
      defaultValue: true,
      description:
        'True if a new spec, or the end of `ignored`, begins a job of the root. A job that waits for imports or for other roots takes the change in instead.',
    }),
  }),
})
export const DeleteInstallationInput = builder.inputType('DeleteInstallationInput', {
  description: 'The installation to delete, and how.',
  fields: (t) => ({
    id: t.id({ required: true, description: ID }),
    withoutUninstall: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'True if the records are deleted without a call to deployers, so that what they installed stays. A deletion that runs stays as it was requested: cancel it, and this one begins.',
    }),
    force: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True to delete it although other installations import from it.',
    }),
    ifUnchanged: t.field(IF_UNCHANGED),
  }),
})

builder.mutationFields((t) => ({
  createInstallation: t.field({
    right: rights.create,
    ...commandResult('CreateInstallationResult', InstallationRef, deploymentsCommands.createInstallation),
    description:
      'Creates a root installation with all that is nested in it. Refused for a name that exists (ALREADY_EXISTS), and for a spec that cannot work (INVALID_INPUT), e.g. with a cycle, an unknown reference, or an export that another root or a user sets.',
    args: { input: t.arg({ type: CreateInstallationInput, required: true, description: INPUT_ARGUMENT }) },
    resolve: (_, { input }, context) =>
      writeObject(context, null, () => context.deployments.createInstallation(context.viewer, dropUndefined(input))),
  }),
  updateInstallation: t.field({
    right: rights.update,
    ...commandResult('UpdateInstallationResult', InstallationRef, deploymentsCommands.updateInstallation),
    description:
      'Changes the spec, labels, description or `ignored` of an installation. A spec for an installation that is to be deleted is refused (BUSY).',
    args: { input: t.arg({ type: UpdateInstallationInput, required: true, description: INPUT_ARGUMENT }) },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () =>
        context.deployments.updateInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
  deleteInstallation: t.field({
    right: rights.delete,
    ...commandResult('DeleteInstallationResult', InstallationRef, deploymentsCommands.deleteInstallation),
    description:
      'Deletes a root installation with all below it, once the running job has ended. Deployers uninstall what they installed.',
    args: { input: t.arg({ type: DeleteInstallationInput, required: true, description: INPUT_ARGUMENT }) },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () =>
        context.deployments.deleteInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
}))

builder.mutationField('rollbackInstallation', (t) =>
  t.fieldWithInput({
    right: rights.update,
    ...commandResult('RollbackInstallationResult', InstallationRef, deploymentsCommands.rollbackInstallation),
    description:
      'Brings back the spec of an earlier generation of a root installation, as a new generation. Refused as `updateInstallation` is, and for a generation that is not kept any more.',
    typeOptions: { description: 'The installation whose earlier spec comes back.' },
    input: {
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
      id: t.input.id({ required: true, description: ID }),
      toGeneration: t.input.int({ required: true, description: 'The one of its `specGenerations` to restore.' }),
      expectedGeneration: t.input.int({
        description:
          'Generation that the installation must be at; otherwise nothing is written (GENERATION_MISMATCH). Left out or null: any.',
      }),
      reconcile: t.input.boolean({
        required: true,
        defaultValue: true,
        description: 'True if a job begins, as for a new spec.',
      }),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () =>
        context.deployments.rollbackInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
)
builder.mutationField('cancelInstallation', (t) =>
  t.fieldWithInput({
    right: rights.cancel,
    ...commandResult('CancelInstallationResult', InstallationRef, deploymentsCommands.cancelInstallation),
    description:
      'Cancels the running job of a root installation, and drops the one that was to follow, which the log says: nothing starts any more, and deployers are asked to stop. A deletion that was to follow still begins. Refused with a TransitionError if no job runs or is to begin.',
    typeOptions: { description: 'The installation whose job is cancelled, and why.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      reason: t.input.string({ limit: 'reason', description: 'Added to `cancelBy`. Left out or null: none.' }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () =>
        context.deployments.cancelInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
)
builder.mutationField('reconcileInstallation', (t) =>
  t.fieldWithInput({
    right: rights.reconcile,
    ...commandResult('ReconcileInstallationResult', InstallationRef, deploymentsCommands.reconcileInstallation),
    description: 'Begins a new job of a root installation, at once or when the running one has ended.',
    typeOptions: { description: 'The installation that runs again, and how.' },
    input: {
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
      id: t.input.id({ required: true, description: ID }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      mode: t.input.field({
        type: ReconcileModeEnum,
        required: true,
        defaultValue: 'STANDARD',
        description: 'How the job treats the tree. If several jobs are to begin, the strongest mode counts.',
      }),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () =>
        context.deployments.reconcileInstallation(context.viewer, dropUndefined(input)),
      ),
  }),
)
