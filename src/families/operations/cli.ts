import type { FamilyCli } from '../define-family.ts'
import { addLocks } from './cli/locks.ts'
import { addTask } from './cli/task.ts'
import { addUndo } from './cli/undo.ts'

export const cli: FamilyCli = { commands: [addTask, addLocks, addUndo] }
