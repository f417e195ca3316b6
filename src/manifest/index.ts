/**
 * The files of `phaseline apply`, `task run` and `create`: parsed, validated with line and column, and written. Pure.
 */
export { installationInput, labelsInput, taskInput } from './api-input.ts'
export { type CursorPlace, cursorPlaces } from './cursor.ts'
export { fieldsIn, setField, type TextEdit } from './fields.ts'
export { appliedHook, type HookManifest, hookInput, hookManifest, hookSchema, type ShownHook } from './hook.ts'
export {
  DEFAULT_SETTINGS,
  instanceSpecSchema,
  type Manifest,
  manifestSchema,
  nameSchema,
  valuesSchema,
} from './installation.ts'
export {
  appliedInvariant,
  type InvariantManifest,
  invariantInput,
  invariantManifest,
  invariantSchema,
} from './invariant.ts'
export {
  choicesOf,
  type DocumentField,
  documentSchema,
  fieldsBelow,
  type JsonSchema,
  type KindSchemas,
  partAt,
  typeInWords,
} from './json-schema.ts'
export { type FlatKubeconfig, flattenKubeconfig, type ReadKubeconfig, readFlatKubeconfig } from './kubeconfig.ts'
export { appliedLimit, type LimitManifest, limitInput, limitManifest, limitSchema } from './limit.ts'
export {
  appliedNotificationRule,
  type NotificationRuleManifest,
  notificationRuleInput,
  notificationRuleManifest,
  notificationRuleSchema,
} from './notification-rule.ts'
export { type ParsedManifests, parseManifests } from './parse-manifests.ts'
export { type Place, placesIn } from './place.ts'
export { type ProjectManifest, projectSchema } from './project.ts'
export {
  PROJECT_SPEC_FIELDS,
  projectInput,
  projectSpecOf,
  RETRY_FIELDS,
  type ShownProjectSpec,
  WORKLOAD_SPEC_FIELDS,
} from './project-api.ts'
export {
  type Limits,
  type ProjectSpec,
  type Service,
  type Subscription,
  type WantedProject,
  type WorkerTemplate,
  wantedProject,
} from './project-spec.ts'
export {
  describeProblem,
  type ManifestProblem,
  type ReadDocument,
  readDocument,
  type WantedDocument,
} from './read-document.ts'
export { type DocumentKinds, type KindedDocument, type ReadDocuments, readDocuments } from './read-documents.ts'
export { type ReadJson, readJson } from './read-json.ts'
export { appliedSchedule, type ScheduleManifest, scheduleInput, scheduleManifest, scheduleSchema } from './schedule.ts'
export { shownDocument, shownKind } from './shown-document.ts'
export { type TaskManifest, taskSchema } from './task.ts'
export { type ShownInstallation, writeManifest, writtenDocument, writtenSettings } from './write-manifest.ts'
export { writeProject, writtenProject } from './write-project.ts'
export { taskManifest } from './write-task.ts'
export { writeYaml, type YamlComment } from './write-yaml.ts'
