import type { AgentProblem, Client, CrmError } from '../client/index.ts'
import type { Secret } from '../core/secret.ts'
import type { AgentArguments } from './arguments.ts'

/** Runs the work of one type in an agent process until it ends. Throws a UsageError for wrong options. */
export type AgentProgram = (context: AgentContext) => Promise<void>

export interface AgentContext extends AgentArguments {
  readonly client: Client
  readonly token: Secret
  /** Names this process. */
  readonly name: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** Called once the program has all that it needs, before it claims anything. */
  onReady(type: string): void
  /** Tells who runs the process of a problem with one type of work that does not end it. */
  onProblem(type: string, problem: AgentProblem | CrmError): void
}

/** A program as a family lists it: cheap, and loaded by the process that runs it. */
export interface ProgramDefinition {
  /** Its purpose, in a few words. */
  readonly title: string
  /** Options that not all programs have, with what each is. Each takes a value. */
  readonly options?: Readonly<Record<string, string>>
  load(): Promise<AgentProgram>
}

/** By the type of work. */
export type Programs = Readonly<Record<string, ProgramDefinition>>
