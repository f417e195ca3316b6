import type { Client } from '../client/index.ts'
import type { Secret } from '../core/secret.ts'
import type { AgentArguments } from './arguments.ts'

/** What an agent process does for one type of work, until it is told to end. Throws a UsageError for wrong options. */
export type AgentProgram = (context: AgentContext) => Promise<void>

export interface AgentContext extends AgentArguments {
  readonly client: Client
  readonly token: Secret
  /** Names this process. */
  readonly name: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

/** A program as a family lists it: cheap, and loaded by the process that runs it. */
export interface ProgramDefinition {
  /** Names of options that only this program has; each takes a value. */
  readonly options?: readonly string[]
  load(): Promise<AgentProgram>
}
