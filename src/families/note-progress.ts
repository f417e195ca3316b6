import type { Report } from '../core/ports/agents.ts'
import { isFinished, type Node, type Slice } from '../core/tree.ts'

/**
 * Stores the progress of a report, whether interim, final or repeated. A message without a phase change describes the
 * present step; one with a phase change is in the log. A report after the end of the job is a repetition and is ignored.
 */
export function noteProgress(
  node: Node,
  { progress, message }: Pick<Report, 'progress' | 'message'>,
  slice: Slice,
): void {
  if (isFinished(node.row) || !(progress || message)) return
  const { step, value, total, unit } = progress ?? {}
  slice.setProgress(node, {
    step: step ?? message ?? null,
    value: value ?? null,
    total: total ?? null,
    unit: unit ?? null,
  })
}
