import { invalidInput, transitionRefused } from '../../src/core/errors.ts'
import { allowedFrom } from '../../src/core/machine.ts'
import type { Principal, Viewer } from '../../src/core/ports/viewer.ts'
import { isName, NAME_RULE } from '../../src/core/problems.ts'
import type { Right } from '../../src/core/rights.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { type CommandAccess, type CommandResult, onObject, refuse } from '../../src/families/access.ts'
import { type Bound, command } from '../../src/families/command.ts'
import { creates, type Judged } from '../../src/families/creation.ts'
import type { LockedProject, LockedTree } from '../../src/families/family.ts'
import { rootNameTaken } from '../../src/families/root-name.ts'
import { backup } from './machines.ts'
import { rights } from './rights.ts'
import { end, offer } from './rules.ts'

type Changed = CommandResult<'InvalidInputError' | 'NotFoundError' | 'TransitionError' | 'ForbiddenError'>
type Write = (tree: LockedTree, by: ByUser) => CommandResult<'TransitionError'>
type ByUser = { readonly actor: 'USER'; readonly by: Principal }

const onBackup =
  (right: Right, write: Write) =>
  (parts: CommandAccess, viewer: Viewer, id: string): Promise<Changed> =>
    onObject(parts, viewer, { right, id, what: 'backup' }, (tree) => write(tree, { actor: 'USER', by: viewer }))

const createBackup = creates('createBackup', { right: rights.create, judge })

export const backupsCommands = {
  createBackup: command(createBackup, ['ConflictError']),
  cancelBackup: command(onBackup(rights.cancel, cancel), ['NotFoundError', 'TransitionError']),
  deleteBackup: command(onBackup(rights.delete, remove), ['NotFoundError', 'TransitionError']),
}
export type BackupsCommands = Bound<typeof backupsCommands>

export interface CreateBackup {
  readonly project: string
  readonly name: string
  readonly volume: string
}

async function judge(_: CommandAccess, by: Viewer, input: CreateBackup): Promise<Judged<'ConflictError'>> {
  if (!isName(input.name)) return refuse(invalidInput([{ path: 'input.name', message: NAME_RULE }]))
  return { ok: true, write: (project) => write(project, by, input) }
}

async function write(
  project: LockedProject,
  by: Viewer,
  { name, volume }: CreateBackup,
): Promise<CommandResult<'ConflictError'>> {
  const taken = await rootNameTaken(project, { kind: 'BACKUP', name, what: 'a backup' })
  if (taken) return refuse(taken)
  const spec = { volume }
  const { root, slice } = project.createRoot({ kind: 'BACKUP', name, spec, details: {}, labels: {}, by })
  offer(root, slice, spec)
  return { ok: true, objectId: root.row.id }
}

function cancel(tree: LockedTree, by: ByUser): CommandResult<'TransitionError'> {
  const { slice, root } = tree
  if (root.row.phase === 'PENDING') return userMove(tree, by, 'ABORTED', () => end(root, slice, 'ABORTED', by))
  return userMove(tree, by, 'ABORTING', () => {
    slice.move(root, 'ABORTING', by)
    slice.setWork(root, { abortRequestedAt: slice.now })
  })
}

function remove(tree: LockedTree, by: ByUser): CommandResult<'TransitionError'> {
  return userMove(tree, by, 'GONE', () => tree.slice.move(tree.root, 'GONE', by))
}

/** Judged by the guard first: what it refuses is in the log, too. */
function userMove(
  { slice, root, reject }: LockedTree,
  { by }: ByUser,
  to: Phase,
  move: () => void,
): CommandResult<'TransitionError'> {
  const { phase, id } = root.row
  if (!slice.judge(root, 'USER', to).ok) {
    const refusal = transitionRefused('BACKUP', phase, 'USER', to, allowedFrom(backup, phase, 'USER'))
    reject(root, to, by, refusal.message)
    return refuse(refusal)
  }
  move()
  return { ok: true, objectId: id }
}
