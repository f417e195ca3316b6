import { agentCalls } from './agent-calls.ts'
import { type Frame, frames } from './frames.ts'
import { httpRequest } from './http-requests.ts'
import { manifest } from './manifests.ts'
import { type Operation, operation } from './operations.ts'
import { Tape } from './tape.ts'

export const CALLERS = ['admin', 'editor', 'deployer', 'crm', 'worker', 'reader'] as const
export type CallerName = (typeof CALLERS)[number]

/** One case, as a value that a file can keep. `@name` stands for what the target has of that name. */
export type FuzzCase =
  | { readonly kind: 'operations'; readonly as: CallerName; readonly operations: readonly Operation[] }
  | { readonly kind: 'socket'; readonly as: CallerName; readonly frames: readonly Frame[] }
  | { readonly kind: 'http'; readonly as: CallerName; readonly parts: readonly string[] }
  | { readonly kind: 'manifest'; readonly text: string }

export function caseOf(bytes: Uint8Array): FuzzCase {
  const tape = new Tape(bytes)
  const kind = tape.int(10)
  const as = tape.pick(CALLERS)
  if (kind < 4) return { kind: 'operations', as, operations: [operation(tape, ['query', 'mutation'])] }
  if (kind < 6) return { kind: 'operations', as: tape.pick(['deployer', 'crm', as]), operations: agentCalls(tape) }
  if (kind < 8) return { kind: 'socket', as, frames: frames(tape) }
  if (kind < 9) return { kind: 'http', as, parts: httpRequest(tape) }
  return { kind: 'manifest', text: manifest(tape) }
}
