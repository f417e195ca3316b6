export type { Resolution, Sandbox } from './sandbox.ts'
export { createSandbox } from './sandbox.ts'
export { machineBusy, SandboxBusy } from './sandbox-busy.ts'
