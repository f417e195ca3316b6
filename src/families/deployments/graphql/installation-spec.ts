import { TargetSelectorRef } from '../../../graphql/objects/target-selector.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { LimitRequestRef } from '../../limit-input.ts'
import { RetryPolicyRef } from '../../retry-input.ts'
import { wantedSelector } from '../rules/choose-target.ts'
import type {
  AutomaticReconcile,
  ExportSpec,
  ImportSpec,
  InstallationSpec,
  ItemSpec,
  NestedSpec,
  ReconcileTimes,
  Timeout,
  Timeouts,
} from '../rules/spec.ts'
import { TIMEOUTS, TIMES } from './inputs.ts'

/** The spec of an installation, as the API shows it: InstallationSpecInput with its defaults filled in. */

const TimeoutRef = builder.objectRef<Timeout>('Timeout').implement({
  description: 'How long a clock runs.',
  fields: (t) => ({
    ms: t.int({
      nullable: true,
      description: 'Milliseconds until the clock expires; null if it never does.',
      resolve: (timeout) => ('ms' in timeout ? timeout.ms : null),
    }),
    never: t.boolean({ description: 'True if the clock never expires.', resolve: (timeout) => 'never' in timeout }),
  }),
})
export const TimeoutsRef = builder.objectRef<Timeouts>('Timeouts').implement({
  description: 'Timeouts of a deploy item, as its spec has them.',
  fields: (t) => ({
    pickup: t.field({
      type: TimeoutRef,
      nullable: true,
      description: `${TIMEOUTS.pickup} Null: the default of the server, 5 minutes unless configured.`,
      resolve: ({ pickup }) => pickup,
    }),
    progressing: t.field({
      type: TimeoutRef,
      nullable: true,
      description: `${TIMEOUTS.progressing} Null: the default of the server, 10 minutes unless configured.`,
      resolve: ({ progressing }) => progressing,
    }),
    aborting: t.field({
      type: TimeoutRef,
      nullable: true,
      description: `${TIMEOUTS.aborting} Null: the default of the server, 5 minutes unless configured.`,
      resolve: ({ aborting }) => aborting,
    }),
  }),
})

const ImportRef = builder.objectRef<ImportSpec>('ImportSpec').implement({
  description: 'A value that an installation takes from its scope.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name that expressions of the installation use.' }),
    from: t.exposeString('from', { description: 'Name of the data in the scope.' }),
    schema: t.field({
      type: 'JSON',
      nullable: true,
      description: 'JSON Schema that the value must satisfy; null: any value.',
      resolve: ({ schema }) => schema ?? null,
    }),
    required: t.exposeBoolean('required', { description: 'True if the installation needs the value.' }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Value of this import in place of the one in the scope; null: the scope gives it.',
      resolve: ({ value }) => value ?? null,
    }),
  }),
})
const ExportRef = builder.objectRef<ExportSpec>('ExportSpec').implement({
  description: 'A value that an installation gives to its scope when it has succeeded.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the data in the scope.' }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value, with its expressions unresolved; null: the value null.',
      resolve: ({ value }) => value,
    }),
  }),
})
const ItemRef = builder.objectRef<ItemSpec>('DeployItemSpec').implement({
  description: 'One thing that a deployer installs and uninstalls.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique among the deploy items of the installation.' }),
    type: t.exposeString('type', { description: 'Type of the work; deployers claim items by it.' }),
    target: t.exposeString('target', { nullable: true, description: 'The place of the item; null: any.' }),
    targetSelector: t.field({
      type: TargetSelectorRef,
      nullable: true,
      description: 'Selects the target of the item when a job begins; null: `target` says it.',
      resolve: wantedSelector,
    }),
    dependsOn: t.stringList({
      description: 'Names of deploy items that must succeed first, also those that expressions in `config` imply.',
      resolve: ({ dependsOn }) => [...dependsOn],
    }),
    config: t.field({
      type: 'JSON',
      nullable: true,
      description: 'JSON for the deployer, with its expressions unresolved; null: none.',
      resolve: ({ config }) => config,
    }),
    forEach: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'List or map of whose entries items are made, with its expressions unresolved; null: it is one item.',
      resolve: ({ forEach }) => forEach,
    }),
    timeouts: t.expose('timeouts', { type: TimeoutsRef, description: 'Timeouts of the item.' }),
    retry: t.field({
      type: RetryPolicyRef,
      nullable: true,
      description: 'Policy for further attempts within a job; null: the first failure is final for the job.',
      resolve: ({ retry }) => retry,
    }),
    limits: t.field({
      type: [LimitRequestRef],
      description:
        'Limits of the project that it holds from its offer until its deployer has ended, their keys with expressions unresolved; at most 4.',
      resolve: ({ limits = [] }) => [...limits],
    }),
  }),
})

const TimesFields = (t: PothosSchemaTypes.ObjectFieldBuilder<Types, ReconcileTimes>) => ({
  intervalMs: t.exposeInt('intervalMs', {
    nullable: true,
    description: `${TIMES.intervalMs} Null: cron says the times.`,
  }),
  cron: t.stringList({
    description: `${TIMES.cron} Empty: intervalMs says them.`,
    resolve: ({ cron }) => [...cron],
  }),
  timeZone: t.exposeString('timeZone', { description: TIMES.timeZone }),
})
const AfterSuccessRef = builder.objectRef<ReconcileTimes>('ReconcileAfterSuccess').implement({
  description: 'When a root that has succeeded begins a job.',
  fields: TimesFields,
})
const AfterFailureRef = builder
  .objectRef<NonNullable<AutomaticReconcile['afterFailure']>>('ReconcileAfterFailure')
  .implement({
    description: 'When a root that has failed begins a job: first at once, then at these times.',
    fields: (t) => ({
      attempts: t.exposeInt('attempts', {
        nullable: true,
        description: 'Jobs that begin by themselves until one succeeds; null: any number.',
      }),
      ...TimesFields(t),
    }),
  })
const AutomaticReconcileRef = builder.objectRef<AutomaticReconcile>('AutomaticReconcile').implement({
  description: 'Jobs of a root that begin by themselves.',
  fields: (t) => ({
    afterSuccess: t.expose('afterSuccess', {
      type: AfterSuccessRef,
      nullable: true,
      description: 'Null: none begins after a success.',
    }),
    afterFailure: t.expose('afterFailure', {
      type: AfterFailureRef,
      nullable: true,
      description: 'Null: none begins after a failure.',
    }),
  }),
})

export const InstallationSpecRef = builder.objectRef<InstallationSpec>('InstallationSpec')
const NestedRef = builder.objectRef<NestedSpec>('NestedInstallationSpec').implement({
  description: 'An installation within another, in the scope of which it imports and exports.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique among the nested installations.' }),
    spec: t.expose('spec', { type: InstallationSpecRef, description: 'Its spec.' }),
  }),
})
InstallationSpecRef.implement({
  description: 'The parts of an installation.',
  fields: (t) => ({
    target: t.string({
      nullable: true,
      description: 'The place of deploy items that say none themselves; null: any.',
      resolve: ({ target }) => target,
    }),
    targetSelector: t.field({
      type: TargetSelectorRef,
      nullable: true,
      description: 'Selects the target of deploy items that say none themselves; null: none.',
      resolve: wantedSelector,
    }),
    imports: t.field({
      type: [ImportRef],
      description: 'Values from the scope.',
      resolve: ({ imports }) => [...imports],
    }),
    exports: t.field({
      type: [ExportRef],
      description: 'Values for the scope.',
      resolve: ({ exports }) => [...exports],
    }),
    installations: t.field({
      type: [NestedRef],
      description: 'Nested installations.',
      resolve: ({ installations }) => [...installations],
    }),
    deployItems: t.field({
      type: [ItemRef],
      description: 'Deploy items.',
      resolve: ({ deployItems }) => [...deployItems],
    }),
    automaticReconcile: t.field({
      type: AutomaticReconcileRef,
      nullable: true,
      description: 'Jobs that begin by themselves; null: none do.',
      resolve: ({ automaticReconcile }) => automaticReconcile,
    }),
  }),
})
