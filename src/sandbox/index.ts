export { OwnerBusy } from './owner-busy.ts'
export type { Sandbox } from './sandbox.ts'
export { createSandbox } from './sandbox.ts'
