import type { Command, Option } from 'commander'
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

const ofProjects = new WeakSet<Option>()

/** Has shells complete the value of an option, which is the name of a project. `--project` needs no mention. */
export function ofProject(option: Option): Option {
  ofProjects.add(option)
  return option
}
export const takesProject = (option: Option): boolean => option.long === '--project' || ofProjects.has(option)
