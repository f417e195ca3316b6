import type { FailureCause } from '../../../core/errors.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import { isOver } from './details.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    failedJobs: { readonly args: string; readonly answer: readonly FailureCause[] }
  }
}

/** Rules of a task: it starts its jobs and ends when all of them have ended. */
export function decideTask(node: Node, slice: Slice): void {
  const { phase } = node.row
  if (phase === 'PENDING') return start(node, slice)
  if (phase !== 'RUNNING' && phase !== 'ABORTING') return
  if (node.childCounts.open === 0) return end(node, slice)
  // After a failure nothing new starts: the rules of each waiting job skip it.
  if (node.childCounts.failed > 0)
    for (const job of slice.children(node) ?? []) if (!isOver(job.row.phase)) slice.touch(job)
}

function start(node: Node, slice: Slice): void {
  const jobs = slice.children(node)
  if (!jobs) return
  slice.patch(node, { jobId: slice.newId(), observedGeneration: node.row.generation })
  slice.move(node, 'RUNNING')
  slice.touch(node)
  for (const job of jobs) if (job.row.waitingFor === 0) slice.touch(job)
}

function end(node: Node, slice: Slice): void {
  const { failed, untriggered } = node.childCounts
  if (node.row.phase === 'ABORTING') slice.move(node, 'ABORTED')
  else if (failed + untriggered === 0) slice.move(node, 'SUCCEEDED')
  else {
    const causes = slice.ask('failedJobs', node.row.id)
    if (!causes) return
    const names = causes.map(({ name, code }) => `${name} (${code})`).join(', ')
    const message =
      failed > 0
        ? `${names}${failed > causes.length ? ` and ${failed - causes.length} more` : ''} did not succeed.`
        : // A job that could not be undone at first has succeeded after all.
          `${untriggered} of its jobs did not start, since another one could not be undone.`
    slice.setError(node, { code: 'JOBS_FAILED', message, at: slice.now.toISOString(), causeCount: failed, causes })
    slice.move(node, 'FAILED', { reason: 'JOBS_FAILED', message })
  }
  slice.patch(node, { finishedJobId: node.row.jobId })
}
