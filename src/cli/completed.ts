import type { Command } from 'commander'
import type { ObjectKind } from '../core/vocabulary.ts'

/** Names that a shell completes: objects of all kinds or of one, projects, or contexts. */
export type Completed = 'object' | 'project' | 'context' | ObjectKind

const sources = new WeakMap<Command, Completed>()

/** Has shells complete the first argument of a command. */
export function withCompletion(command: Command, completed: Completed): Command {
  sources.set(command, completed)
  return command
}
export const completedBy = (command: Command): Completed | undefined => sources.get(command)
