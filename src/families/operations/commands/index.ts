import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Problems } from '../../../core/problems.ts'
import type { Right } from '../../../core/rights.ts'
import type { JobInput } from '../rules/normalise-task.ts'
import { cancelTask, deleteTask, resolveUndo } from './change-task.ts'
import { type CreateTask, createTask, createTaskFor, readJobs } from './create-task.ts'
import type { OperationsParts } from './parts.ts'

/** The operations family's mutations. */
export type OperationsCommands = ReturnType<typeof operationsCommands>

export function operationsCommands(parts: OperationsParts) {
  const bound =
    <I, O>(command: (parts: OperationsParts, viewer: Viewer, input: I) => O) =>
    (viewer: Viewer, input: I): O =>
      command(parts, viewer, input)
  return {
    createTask: bound(createTask),
    /** Creates a task that somebody has written before, for a viewer with this right. */
    createTaskFor: (viewer: Viewer, right: Right, task: CreateTask) => createTaskFor(parts, viewer, right, task),
    /** Adds the problems of jobs that are created later. */
    checkJobs: async (jobs: readonly JobInput[], path: string, problems: Problems): Promise<void> => {
      await readJobs(parts, jobs, problems, path)
    },
    cancelTask: bound(cancelTask),
    deleteTask: bound(deleteTask),
    resolveUndo: bound(resolveUndo),
  }
}
