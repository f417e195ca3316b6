export { LIMITS } from './limits.ts'
export type { Sandbox } from './sandbox.ts'
export { createSandbox } from './sandbox.ts'
