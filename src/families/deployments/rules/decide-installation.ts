import { objectFailure } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import { mergePendingReconcile } from './ask-for-job.ts'
import { complete } from './complete-installation.ts'
import { type InstallationDetails, installation, isCancelled, isForced } from './details.ts'
import { cancelMessage, failWithCauses, finish, keep, orphansFirst, recordRun, vanish, whyDeleted } from './finish.ts'
import { type Gathered, gatherImports, pinImports } from './imports.ts'
import { checkImports, markOrphanedChildren, writeMissingChildren } from './init-installation.ts'
import { describeUnmet, unmetInvariants } from './invariants.ts'
import { mayBeDeleted } from './sibling-imports.ts'
import { startChildren, startDeletionOfChildren, takeOver } from './start-children.ts'
import { startJob } from './start-job.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    containsOutdated: { readonly args: string; readonly answer: boolean }
  }
  interface FamilyEffects {
    ready: null
    rootGone: null
  }
}

/** An installation drives its nested installations and its execution: one small step per phase. */
export function decideInstallation(node: Node, slice: Slice): void {
  if (isFinished(node.row)) return slice.parent(node) ? takeOver(node, slice) : startJob(node, slice)
  switch (node.row.phase) {
    case 'PENDING_DEPENDENCIES':
      return wait(node, slice)
    case 'INIT':
      return init(node, slice)
    case 'CLEANUP_ORPHANED':
      return cleanUp(node, slice)
    case 'OBJECTS_CREATED':
      return isCancelled(slice) ? abort(node, slice) : startChildren(node, slice)
    case 'PROGRESSING':
      return progress(node, slice)
    case 'COMPLETING':
      return isCancelled(slice) ? abort(node, slice) : complete(node, slice)
    case 'INIT_DELETE':
      return initDelete(node, slice)
    case 'TRIGGER_DELETE':
      return isCancelled(slice) ? abortDeletion(node, slice) : startDeletionOfChildren(node, slice)
    case 'DELETING':
      return progressDeletion(node, slice)
    default:
      return node.row.deletionRequestedAt ? startDeletion(node, slice) : admit(node, slice)
  }
}

function startDeletion(node: Node, slice: Slice): void {
  if (node.error) slice.setError(node, null)
  slice.move(node, 'INIT_DELETE', { reason: whyDeleted(slice.parent(node)) })
  slice.touch(node)
}

/** A waiting root takes later requests: a deletion, or another mode of reconciling. */
function wait(node: Node, slice: Slice): void {
  if (isCancelled(slice)) return abort(node, slice)
  if (!slice.parent(node) && installation(node).nextDeletion) {
    return finish(node, slice, { to: 'ABORTED', error: objectFailure(slice, 'ABORTED', 'Its deletion was requested.') })
  }
  admit(node, slice)
}

/** Moves an installation with a job to INIT once its imports exist, its dependencies are ready and its project allows it. */
function admit(node: Node, slice: Slice): void {
  if (isCancelled(slice)) return letGo(node, slice)
  if (!slice.parent(node)) mergePendingReconcile(node, slice)
  const gathered = gatherImports(node, slice)
  if (!gathered) return
  if (isUnchanged(node, gathered, slice)) {
    const isOutdated = slice.ask('containsOutdated', node.row.id)
    if (isOutdated === undefined) return
    if (!isOutdated) return keepUnchanged(node, slice)
  }
  if (gathered.state !== 'ready') return holdBack(node, gathered, slice)
  const unmet = unmetInvariants(node, slice)
  if (!unmet) return
  if (unmet[0]) return holdBack(node, { ...gathered, state: 'waiting', message: describeUnmet(unmet[0]) }, slice)
  const pinned = pinImports(node, gathered, slice)
  if (!pinned) return
  if (pinned.state !== 'ready') return holdBack(node, pinned, slice)
  slice.patch(node, { observedGeneration: node.row.generation })
  slice.setDetails(node, { imports: pinned.values, ...(!slice.parent(node) && usesSpecOf(installation(node))) })
  if (node.error) slice.setError(node, null)
  slice.move(node, 'INIT', isForced(slice) ? { reason: 'FORCE does not wait for what it depends on' } : {})
  slice.touch(node)
}

/** The job uses the spec as it is now, whoever edits it later. */
const usesSpecOf = ({ origin, editorId }: InstallationDetails): Partial<InstallationDetails> =>
  origin && editorId !== null ? { origin: { ...origin, editorId } } : {}

/** Ends a job that was cancelled before it did anything. */
function letGo(node: Node, slice: Slice): void {
  slice.move(node, 'PENDING_DEPENDENCIES', { reason: 'cancelled' })
  slice.touch(node)
}

function holdBack(node: Node, gathered: Gathered, slice: Slice): void {
  if (node.row.phase !== 'PENDING_DEPENDENCIES') {
    // If its blocker may be kept, this one may be, too.
    if (mayBeKept(node, slice) && !slice.isAtRest(node)) return
    if (node.error) slice.setError(node, null)
    slice.move(node, 'PENDING_DEPENDENCIES', { reason: gathered.message })
    slice.touch(node)
    return
  }
  if (gathered.state !== 'never') return
  finish(node, slice, { to: 'FAILED', error: objectFailure(slice, gathered.code, gathered.message) })
}

const mayBeKept = ({ row }: Node, slice: Slice): boolean =>
  installation(slice.root).mode === 'IF_CHANGED' &&
  row.phase === 'SUCCEEDED' &&
  row.generation === row.observedGeneration

const isUnchanged = (node: Node, { values }: Gathered, slice: Slice): boolean =>
  mayBeKept(node, slice) && values !== null && sameJson(values, installation(node).imports)

function keepUnchanged(node: Node, slice: Slice): void {
  const parent = slice.parent(node)
  keep(node, slice, node.row.jobId as string)
  if (parent) {
    slice.addChildCounts(parent, { open: -1 })
    return slice.touch(parent)
  }
  slice.effect('ready', null)
  // It has repaired nothing: the next job that begins by itself comes when it would have come without this one.
  recordRun(node, slice, { phase: node.row.phase, error: null })
  slice.touch(node)
}

function init(node: Node, slice: Slice): void {
  if (isCancelled(slice)) return abort(node, slice)
  const judged = checkImports(node, slice)
  if (judged === 'unknown') return
  if (judged !== 'valid')
    return finish(node, slice, { to: 'FAILED', error: objectFailure(slice, 'IMPORT_INVALID', judged.message) })
  if (!markOrphanedChildren(node, slice)) return
  slice.move(node, 'CLEANUP_ORPHANED')
  slice.touch(node)
}

function cleanUp(node: Node, slice: Slice): void {
  if (isCancelled(slice) && node.childCounts.open === 0) return abort(node, slice)
  if (orphansFirst(node, slice) !== 'gone') return
  const written = writeMissingChildren(node, slice)
  if (written === 'unknown') return
  if (written !== 'written')
    return finish(node, slice, { to: 'FAILED', error: objectFailure(slice, 'FOR_EACH', written.message) })
  slice.move(node, 'OBJECTS_CREATED')
  slice.touch(node)
}

function progress(node: Node, slice: Slice): void {
  const { open, failed, total } = node.childCounts
  if (open > 0) return
  if (isCancelled(slice)) return abort(node, slice)
  if (failed > 0) return failWithCauses(node, slice, 'FAILED')
  slice.move(node, 'COMPLETING', total === 0 ? { reason: 'it has no children' } : {})
  slice.touch(node)
}

function initDelete(node: Node, slice: Slice): void {
  if (isCancelled(slice)) return abortDeletion(node, slice)
  const verdict = mayBeDeleted(node, slice)
  if (verdict === 'unknown' || verdict === 'wait') return
  if (verdict !== 'yes') {
    return finish(node, slice, {
      to: 'DELETE_FAILED',
      error: objectFailure(slice, 'SIBLING_IMPORT', verdict.message, verdict.causes),
    })
  }
  const children = slice.children(node)
  if (!children) return
  for (const child of children) {
    if (!child.row.deletionRequestedAt) slice.patch(child, { deletionRequestedAt: slice.now })
  }
  slice.move(node, 'TRIGGER_DELETE')
  slice.touch(node)
}

function progressDeletion(node: Node, slice: Slice): void {
  const { total, open, failed } = node.childCounts
  if (open > 0) return
  if (total === 0) {
    if (slice.parent(node)) return vanish(node, slice, { triggered: true })
    slice.effect('rootGone', null)
    return finish(node, slice, { to: 'GONE' })
  }
  if (isCancelled(slice)) return abortDeletion(node, slice)
  if (failed > 0) failWithCauses(node, slice, 'DELETE_FAILED')
}

const abort = (node: Node, slice: Slice): void =>
  finish(node, slice, { to: 'ABORTED', error: objectFailure(slice, 'ABORTED', cancelMessage(slice)) })
const abortDeletion = (node: Node, slice: Slice): void =>
  finish(node, slice, { to: 'DELETE_FAILED', error: objectFailure(slice, 'ABORTED', cancelMessage(slice)) })
