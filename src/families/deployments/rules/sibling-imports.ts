import type { FailureCause } from '../../../core/errors.ts'
import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { installation } from './details.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    importers: { readonly args: { readonly projectId: string }; readonly answer: readonly Importer[] }
  }
}

type Verdict = 'unknown' | 'yes' | 'wait' | { readonly message: string; readonly causes: readonly FailureCause[] }

export interface Importer {
  readonly id: string
  readonly name: string
  /** Its deletion runs and has not failed. */
  readonly deleting: boolean
}

export interface ImporterState {
  readonly phase: Phase
  readonly jobId: string | null
  readonly finishedJobId: string | null
  readonly deletionRequestedAt: Date | null
  readonly nextDeletion: boolean
}
/** Its deletion runs or is pending. */
export const isBeingDeleted = (state: ImporterState): boolean =>
  state.nextDeletion || (state.deletionRequestedAt !== null && !(isFinished(state) && state.phase === 'DELETE_FAILED'))

/** An installation is not deleted while a sibling imports from it. A sibling that is being deleted itself is waited for. */
export function mayBeDeleted(node: Node, slice: Slice): Verdict {
  if (installation(slice.root).forceDeletion) return 'yes'
  if (slice.parent(node)) return judgeNested(node, slice)
  const importers = slice.ask('importers', { projectId: node.row.projectId })
  if (!importers) return 'unknown'
  return judge(importers)
}

function judgeNested(node: Node, slice: Slice): Verdict {
  if (node.row.waitingFor === 0) return 'yes'
  const dependents = slice.neighbours(node, 'dependents')
  if (!dependents) return 'unknown'
  return judge(
    dependents.map(({ row }) => ({
      id: row.id,
      name: row.name,
      deleting: !(isFinished(row) && row.phase === 'DELETE_FAILED'),
    })),
  )
}

function judge(importers: readonly Importer[]): Verdict {
  const staying = importers.filter((importer) => !importer.deleting)
  if (staying.length === 0) return importers.length === 0 ? 'yes' : 'wait'
  const names = staying.map(({ name }) => name).join(', ')
  const causes = staying.map(
    ({ id, name }): FailureCause => ({
      objectId: id,
      kind: 'INSTALLATION',
      name,
      code: 'SIBLING_IMPORT',
      message: 'It imports from the installation that is to be deleted.',
    }),
  )
  return { message: `${names} still imports from it: delete that first, or delete with force.`, causes }
}
