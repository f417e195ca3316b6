export type { SchemaCheck } from './check-schema.ts'
export type { Analysis, Resolution, ResolveJob, Sandbox, SandboxOptions, ValidateJob, Validation } from './sandbox.ts'
export { createSandbox } from './sandbox.ts'
