import type { ObjectRow } from '../../../core/tree.ts'
import { sideField } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { type ShownAutomatic, shownAutomatic } from '../rules/automatic-reconcile.ts'
import type { AutomaticState } from '../rules/details.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import { ExecutionRef } from './execution.ts'
import { InstallationSpecRef } from './installation-spec.ts'
import { executionLoader, installationLoader, specOf } from './loaders.ts'
import { ReconcileModeEnum } from './reconcile-mode.ts'

const AutomaticStateRef = builder.objectRef<ShownAutomatic>('AutomaticReconcileState').implement({
  description: 'The jobs of a root that begin by themselves, as they stand.',
  fields: (t) => ({
    nextAt: t.expose('nextAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the next job begins. Null: a job runs, none has ended yet, the spec was edited since, it was cancelled, it is ignored, or all jobs after a failure are used up.',
    }),
    retry: t.exposeInt('retry', {
      nullable: true,
      description: 'Number of the running or next job after a failure, from 1; null if it is none.',
    }),
    maxRetries: t.exposeInt('maxRetries', {
      nullable: true,
      description: 'Number of jobs after a failure in all; null: any number.',
    }),
    editor: t.exposeString('editor', {
      description: 'Name of who has written the spec last: its jobs have the rights of that principal, and no more.',
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description:
        'Why the last time has begun no job, such as a hold or a right that its editor has lost; null if it has.',
    }),
  }),
})

export const InstallationRef = builder.objectRef<ObjectRow>('Installation').implement({
  description: 'A unit of deployment: nested installations and deploy items, with imports and exports.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    spec: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Spec in the form of InstallationSpecInput, with all defaults filled in; null once it is deleted.',
      resolve: ({ id }, _, context) => specOf<InstallationSpec>(context, id),
    }),
    installationSpec: t.field({
      type: InstallationSpecRef,
      nullable: true,
      description: 'The same as `spec`, with types; null once it is deleted.',
      resolve: ({ id }, _, context) => specOf<InstallationSpec>(context, id),
    }),
    description: t.string({
      description: 'A sentence for people, from its manifest; empty if it has none.',
      resolve: sideField(installationLoader, 'description', ''),
    }),
    ignored: t.boolean({
      description:
        'True if the installation, and all below it, gets no job any more once it is in a final phase. A running job continues.',
      resolve: sideField(installationLoader, 'ignored', false),
    }),
    mode: t.field({
      type: ReconcileModeEnum,
      description: 'Mode of the running or last job.',
      resolve: sideField(installationLoader, 'mode', 'STANDARD'),
    }),
    nextMode: t.field({
      type: ReconcileModeEnum,
      nullable: true,
      description: 'Mode of the job that begins once the running one has ended; null if none is to begin.',
      resolve: sideField(installationLoader, 'nextMode', null),
    }),
    nextDeletion: t.boolean({
      description: 'True if a deletion begins once the running job has ended.',
      resolve: sideField(installationLoader, 'nextDeletion', false),
    }),
    cancelRequestedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the running or last job was cancelled; null if it was not.',
      resolve: sideField(installationLoader, 'cancelRequestedAt', null),
    }),
    cancelBy: t.string({
      nullable: true,
      description:
        'Name of the token that cancelled the job, with the reason in brackets; null if it was not cancelled.',
      resolve: sideField(installationLoader, 'cancelBy', null),
    }),
    automaticReconcile: t.field({
      type: AutomaticStateRef,
      nullable: true,
      description: 'Its jobs that begin by themselves; null if its spec has none.',
      resolve: async (row, _, context) => {
        const details = await installationLoader(context).load(row.id)
        const state = details?.automaticReconcile as AutomaticState | null | undefined
        return state && shownAutomatic(state, row, details?.ignored ?? false)
      },
    }),
    imports: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Values that it read when it last entered INIT, by name of the import; null before the first time.',
      resolve: sideField(installationLoader, 'imports', null),
    }),
    exports: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Values of its last success, by name of the export; null before the first success.',
      resolve: sideField(installationLoader, 'exports', null),
    }),
    execution: t.field({
      type: ExecutionRef,
      nullable: true,
      description: 'The part that runs its deploy items; null if it has none.',
      resolve: ({ id }, _, context) => executionLoader(context).load(id),
    }),
  }),
})
