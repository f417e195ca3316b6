import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts'

let opened: Sandbox | undefined

/** The worker's sandbox, for tests that are not about it: it keeps nothing between two jobs, and its process ends with the worker. */
export function openSandbox(): Sandbox {
  opened ??= createSandbox()
  return opened
}
