import { transitionRefused } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { type CommandResult, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'

/** Records in the log that a schedule is in the wrong phase. */
export function refused(tree: LockedTree, viewer: Viewer, to: Phase): CommandResult<'TransitionError'> {
  const { phase, kind } = tree.root.row
  const message = `It is ${phase}.`
  tree.reject(tree.root, to, viewer, message)
  return refuse({ ...transitionRefused(kind, phase, 'USER', to, []), message })
}
