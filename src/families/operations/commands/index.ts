import { bindCommands, command } from '../../command.ts'
import { verbOf } from '../../creation.ts'
import type { TaskVerb } from '../../tasks.ts'
import { cancelTask, deleteTask, resolveUndo } from './change-task.ts'
import { createTask, readJobs, taskCreation } from './create-task.ts'
import type { OperationsParts } from './parts.ts'
import { retryTask } from './retry-task.ts'

/** The operations family's mutations. */
export const operationsCommands = {
  createTask: command(createTask, ['ConflictError']),
  cancelTask: command(cancelTask, ['NotFoundError', 'ConflictError', 'TransitionError']),
  retryTask: command(retryTask, ['NotFoundError', 'ConflictError']),
  deleteTask: command(deleteTask, ['NotFoundError', 'ConflictError', 'TransitionError']),
  resolveUndo: command(resolveUndo, ['NotFoundError', 'TransitionError']),
}

/** The mutations, and how others create tasks. */
export type OperationsCommands = ReturnType<typeof bindOperations>

export const bindOperations = (parts: OperationsParts) => ({
  ...bindCommands(parts, operationsCommands),
  verbs: {
    createTask: {
      ...verbOf(parts, taskCreation),
      check: async (jobs, path, problems) => void (await readJobs(parts, jobs, problems, path)),
    } satisfies TaskVerb,
  },
})
