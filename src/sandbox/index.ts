export { OwnerBusy } from './owner-busy.ts'
export type { Resolution, Sandbox } from './sandbox.ts'
export { createSandbox } from './sandbox.ts'
