import type { Viewer } from '../../core/ports.ts'
import { cancelTask, deleteTask, resolveUndo } from './commands/change-task.ts'
import { createTask } from './commands/create-task.ts'
import type { OperationsParts } from './commands/parts.ts'

/** The operations family's mutations. */
export type OperationsCommands = ReturnType<typeof operationsCommands>

export function operationsCommands(parts: OperationsParts) {
  const bound =
    <I, O>(command: (parts: OperationsParts, viewer: Viewer, input: I) => O) =>
    (viewer: Viewer, input: I): O =>
      command(parts, viewer, input)
  return {
    createTask: bound(createTask),
    cancelTask: bound(cancelTask),
    deleteTask: bound(deleteTask),
    resolveUndo: bound(resolveUndo),
  }
}
