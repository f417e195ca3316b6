import { TargetSelectorInput } from '../../../graphql/objects/target-selector.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { LimitRequestInput } from '../../limit-input.ts'
import { RetryPolicyInput } from '../../retry-input.ts'

/** The spec of an installation, as the API takes it. */

const NAME = 'A letter or _, then letters, digits, _ or -.'
export const TIMEOUTS = {
  pickup: 'From the trigger until a deployer claims the item.',
  progressing: 'From the first claim in a job until the item is done; further claims do not restart it.',
  aborting: 'From the request to stop until the deployer has stopped.',
} as const

const ImportInput = builder.inputType('ImportInput', {
  description: 'A value that an installation takes from its scope.',
  fields: (t) => ({
    name: t.string({ required: true, limit: 'name', description: `${NAME} Unique among the imports.` }),
    from: t.string({
      limit: 'reference',
      description: 'Name of the data in the scope. Left out or null: the name of the import.',
    }),
    schema: t.field({
      type: 'JSON',
      limit: 'schema',
      description:
        'JSON Schema that the value must satisfy. Its `default` is the value if the scope has none. Left out or null: any value.',
    }),
    required: t.boolean({
      required: true,
      defaultValue: true,
      description:
        'True if the installation needs the value. A root waits until it exists; a nested installation fails without it. A default of the schema makes it false.',
    }),
    value: t.field({
      type: 'JSON',
      limit: 'json',
      description:
        'Value of this import in place of the one in the scope, taken as it stands, without expressions. Refused if the schema has `writeOnly: true`, since a spec can be read. Left out or null: the scope gives it.',
    }),
  }),
})
const ExportInput = builder.inputType('ExportInput', {
  description: 'A value that an installation gives to its scope when it has succeeded.',
  fields: (t) => ({
    name: t.string({ required: true, limit: 'name', description: `${NAME} Unique among the exports.` }),
    value: t.field({
      type: 'JSON',
      required: true,
      limit: 'json',
      description: 'Any JSON value, which may hold expressions `${…}` on imports, deployItems and installations.',
    }),
  }),
})
const TimeoutInput = builder.inputType('TimeoutInput', {
  isOneOf: true,
  description: 'How long a clock runs: exactly one of the two.',
  fields: (t) => ({
    ms: t.int({ description: 'Milliseconds until the clock expires, 1 to 2,147,483,647.' }),
    never: t.boolean({ description: 'Must be true: the clock never expires.' }),
  }),
})
const TimeoutsInput = builder.inputType('TimeoutsInput', {
  description: 'Timeouts of a deploy item. One that is left out or null is the default of the server.',
  fields: (t) => ({
    pickup: t.field({ type: TimeoutInput, description: TIMEOUTS.pickup }),
    progressing: t.field({ type: TimeoutInput, description: TIMEOUTS.progressing }),
    aborting: t.field({ type: TimeoutInput, description: TIMEOUTS.aborting }),
  }),
})
const DeployItemInput = builder.inputType('DeployItemInput', {
  description: 'One thing that a deployer installs and uninstalls.',
  fields: (t) => ({
    name: t.string({
      required: true,
      limit: 'name',
      description: `${NAME} Unique among the deploy items of the installation.`,
    }),
    type: t.string({
      required: true,
      limit: 'workType',
      description:
        'Type of the work, by which deployers claim it: a letter or digit, then letters, digits, `.`, `_`, `/` or `-`. Another type replaces the item.',
    }),
    target: t.string({
      limit: 'target',
      description:
        'The place of the item; deployers may claim by it. Left out or null: that of the installation, or any. Another target replaces the item.',
    }),
    targetSelector: t.field({
      type: TargetSelectorInput,
      description:
        'Selects the target among those of the project when a job begins: it must be exactly one, or the item fails (TARGET). Another choice replaces the item. Left out or null: `target` says it, or the installation does.',
    }),
    dependsOn: t.stringList({
      limit: 'dependencies',
      description:
        'Names of deploy items that must succeed first; expressions in `config` imply more. Left out or null: none.',
    }),
    config: t.field({
      type: 'JSON',
      limit: 'json',
      description:
        'Any JSON value for the deployer, which may hold expressions `${…}` on imports and deployItems. Left out or null: none.',
    }),
    forEach: t.field({
      type: 'JSON',
      limit: 'json',
      description:
        'Makes an item of each entry, named `name-key`: a list of texts, numbers or objects with a `name`, or a map. Expressions `${…}` may speak of imports. The config may speak of `each.key` and `each.value`; an entry may have a `target`. Dependents depend on all of them, and read `deployItems.<name>.exports.<key>`. Left out or null: it is one item.',
    }),
    timeouts: t.field({
      type: TimeoutsInput,
      description: 'Timeouts of the item. Left out or null: the defaults of the server.',
    }),
    retry: t.field({
      type: RetryPolicyInput,
      description:
        'Policy for further attempts within a job, after a failure that the deployer reports and after the timeout of an attempt. Left out or null: the first failure is final for the job.',
    }),
    limits: t.field({
      type: [LimitRequestInput],
      limit: 'limitRequests',
      description:
        'Limits of the project that it holds from its offer until its deployer has ended, all or none; its uninstall asks for none. Refused if the project lacks one. Left out or null: none.',
    }),
  }),
})

export const TIMES = {
  intervalMs: 'Milliseconds from the end of the last job, at least 1000.',
  cron: 'Lines of cron with five fields, or six of which the first are seconds; the times are those of all lines.',
  timeZone: 'IANA name of the time zone of the lines.',
} as const
const AfterSuccessInput = builder.inputType('ReconcileAfterSuccessInput', {
  description: 'When a root that has succeeded begins a job: one of intervalMs and cron.',
  fields: (t) => ({
    intervalMs: t.int({ description: `${TIMES.intervalMs} Left out or null: cron says the times.` }),
    cron: t.stringList({ limit: 'cronLines', description: `${TIMES.cron} Left out or null: intervalMs says them.` }),
    timeZone: t.string({ limit: 'reference', description: `${TIMES.timeZone} Left out or null: UTC.` }),
  }),
})
const AfterFailureInput = builder.inputType('ReconcileAfterFailureInput', {
  description: 'When a root that has failed begins a job: first at once, then by one of intervalMs and cron.',
  fields: (t) => ({
    attempts: t.int({
      description:
        'Jobs that begin by themselves until one succeeds, 1 to 1,000,000. An edit or a job that somebody asks for counts anew. Left out or null: any number.',
    }),
    intervalMs: t.int({ description: `${TIMES.intervalMs} Left out or null: cron says the times.` }),
    cron: t.stringList({ limit: 'cronLines', description: `${TIMES.cron} Left out or null: intervalMs says them.` }),
    timeZone: t.string({ limit: 'reference', description: `${TIMES.timeZone} Left out or null: UTC.` }),
  }),
})
const AutomaticReconcileInput = builder.inputType('AutomaticReconcileInput', {
  description:
    'Jobs of a root that begin by themselves, in the mode STANDARD, with the rights of who has written the spec last.',
  fields: (t) => ({
    afterSuccess: t.field({ type: AfterSuccessInput, description: 'Left out or null: none begins after a success.' }),
    afterFailure: t.field({ type: AfterFailureInput, description: 'Left out or null: none begins after a failure.' }),
  }),
})

export interface SpecShape {
  target?: string | null | undefined
  targetSelector?: typeof TargetSelectorInput.$inferInput | null | undefined
  imports?: (typeof ImportInput.$inferInput)[] | null | undefined
  exports?: (typeof ExportInput.$inferInput)[] | null | undefined
  installations?: NestedShape[] | null | undefined
  deployItems?: (typeof DeployItemInput.$inferInput)[] | null | undefined
  automaticReconcile?: typeof AutomaticReconcileInput.$inferInput | null | undefined
}
export interface NestedShape {
  name: string
  spec: SpecShape
}
export const InstallationSpecInput = builder.inputRef<SpecShape, false>('InstallationSpecInput')
const NestedInstallationInput = builder.inputRef<NestedShape, false>('NestedInstallationInput').implement({
  description: 'An installation within another, in the scope of which it imports and exports.',
  fields: (t) => ({
    name: t.string({ required: true, limit: 'name', description: `${NAME} Unique among the nested installations.` }),
    spec: t.field({ type: InstallationSpecInput, required: true, description: 'Its spec.' }),
  }),
})
InstallationSpecInput.implement({
  description: 'The parts of an installation. A field that is left out or null is an empty list, or none.',
  fields: (t) => ({
    target: t.string({
      limit: 'target',
      description:
        'The place of deploy items that say none themselves, also of nested installations that say none. Left out or null: any.',
    }),
    targetSelector: t.field({
      type: TargetSelectorInput,
      description: 'The same by a selector, which each item has then. Left out or null: none.',
    }),
    imports: t.field({ type: [ImportInput], limit: 'imports', description: 'Values from the scope.' }),
    exports: t.field({ type: [ExportInput], limit: 'exports', description: 'Values for the scope.' }),
    installations: t.field({
      type: [NestedInstallationInput],
      limit: 'installations',
      description: 'Nested installations, at most 16 levels deep. The bound is that of the whole tree.',
    }),
    deployItems: t.field({
      type: [DeployItemInput],
      limit: 'deployItems',
      description: 'Deploy items. The bound is that of the whole tree.',
    }),
    automaticReconcile: t.field({
      type: AutomaticReconcileInput,
      description: 'Jobs that begin by themselves; only a root has them. Left out or null: none do.',
    }),
  }),
})
