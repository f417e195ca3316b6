import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Problems } from '../../../core/problems.ts'
import type { Right } from '../../../core/rights.ts'
import { bindCommands, command } from '../../command.ts'
import type { TaskJob } from '../../tasks.ts'
import { cancelTask, deleteTask, resolveUndo } from './change-task.ts'
import { type CreateTask, createTask, createTaskFor, readJobs } from './create-task.ts'
import type { OperationsParts } from './parts.ts'

/** The operations family's mutations. */
export const operationsCommands = {
  createTask: command(createTask, ['ConflictError']),
  cancelTask: command(cancelTask, ['NotFoundError', 'TransitionError']),
  deleteTask: command(deleteTask, ['NotFoundError', 'TransitionError']),
  resolveUndo: command(resolveUndo, ['NotFoundError', 'TransitionError']),
}

/** The mutations, and what other families ask for. */
export type OperationsCommands = ReturnType<typeof bindOperations>

export const bindOperations = (parts: OperationsParts) => ({
  ...bindCommands(parts, operationsCommands),
  /** Creates a task that somebody has written before, for a viewer with this right. */
  createTaskFor: (viewer: Viewer, right: Right, task: CreateTask) => createTaskFor(parts, viewer, right, task),
  /** Adds the problems of jobs that are created later. */
  checkJobs: async (jobs: readonly TaskJob[], path: string, problems: Problems): Promise<void> => {
    await readJobs(parts, jobs, problems, path)
  },
})
