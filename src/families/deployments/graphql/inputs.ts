import { builder } from '../../../graphql/schema/builder.ts'

/** The spec of an installation, as the API takes it. */

const ImportInput = builder.inputType('ImportInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    from: t.string({ description: "Name of the data in the scope; the import's own name if left out." }),
    schema: t.field({ type: 'JSON' }),
    required: t.boolean({ required: true, defaultValue: true }),
  }),
})
const ExportInput = builder.inputType('ExportInput', {
  fields: (t) => ({ name: t.string({ required: true }), value: t.field({ type: 'JSON', required: true }) }),
})
const TimeoutInput = builder.inputType('TimeoutInput', {
  isOneOf: true,
  fields: (t) => ({ ms: t.int(), never: t.boolean({ description: 'Must be true.' }) }),
})
const TimeoutsInput = builder.inputType('TimeoutsInput', {
  description: "Left out or null: the server's default.",
  fields: (t) => ({
    pickup: t.field({ type: TimeoutInput }),
    progressing: t.field({ type: TimeoutInput }),
    aborting: t.field({ type: TimeoutInput }),
  }),
})
const DeployItemInput = builder.inputType('DeployItemInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    type: t.string({ required: true }),
    target: t.string(),
    dependsOn: t.stringList(),
    config: t.field({ type: 'JSON' }),
    timeouts: t.field({ type: TimeoutsInput }),
  }),
})

export interface SpecShape {
  imports?: (typeof ImportInput.$inferInput)[] | null | undefined
  exports?: (typeof ExportInput.$inferInput)[] | null | undefined
  installations?: NestedShape[] | null | undefined
  deployItems?: (typeof DeployItemInput.$inferInput)[] | null | undefined
}
export interface NestedShape {
  name: string
  spec: SpecShape
}
export const InstallationSpecInput = builder.inputRef<SpecShape, false>('InstallationSpecInput')
const NestedInstallationInput = builder.inputRef<NestedShape, false>('NestedInstallationInput').implement({
  fields: (t) => ({
    name: t.string({ required: true }),
    spec: t.field({ type: InstallationSpecInput, required: true }),
  }),
})
InstallationSpecInput.implement({
  fields: (t) => ({
    imports: t.field({ type: [ImportInput] }),
    exports: t.field({ type: [ExportInput] }),
    installations: t.field({ type: [NestedInstallationInput] }),
    deployItems: t.field({ type: [DeployItemInput] }),
  }),
})
