import type { FamilyCli } from '../../define-family.ts'
import { addLocks } from './locks.ts'
import { addTask, shows } from './task.ts'
import { addUndo } from './undo.ts'

export const cli: FamilyCli = {
  commands: [addTask, addLocks, addUndo],
  shows,
  otherKinds: { Task: 'is run, not applied, each time anew: use phaseline task run -f FILE' },
}
