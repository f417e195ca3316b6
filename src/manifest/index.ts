/**
 * The files of `phaseline apply`, `task run` and `create`: parsed, validated with line and column, and written. Pure.
 */
export { installationInput, labelsInput, taskInput } from './api-input.ts'
export { fieldsIn, setField, type TextEdit } from './fields.ts'
export { DEFAULT_SETTINGS, instanceSpecSchema, type Manifest, manifestSchema, nameSchema } from './installation.ts'
export { type ManifestKind, type ParsedManifests, parseManifests } from './parse-manifests.ts'
export { type Place, placesIn } from './place.ts'
export type { ProjectManifest } from './project.ts'
export { PROJECT_SPEC_FIELDS, projectInput, projectSpecOf, type ShownProjectSpec } from './project-api.ts'
export {
  type Limits,
  type ProjectSpec,
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
export { type ReadJson, readJson } from './read-json.ts'
export { type TaskManifest, taskSchema } from './task.ts'
export { type ShownInstallation, writeManifest, writtenSettings } from './write-manifest.ts'
export { writeProject } from './write-project.ts'
export { writeYaml } from './write-yaml.ts'
