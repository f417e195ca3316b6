export type { Resolution, Sandbox, Validation } from './sandbox.ts'
export { createSandbox, requireJudged } from './sandbox.ts'
export { machineBusy, SandboxBusy } from './sandbox-busy.ts'
