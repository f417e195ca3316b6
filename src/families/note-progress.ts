import type { Report } from '../core/ports/agents.ts'
import { isFinished, type Node, type Slice } from '../core/tree.ts'

/**
 * Stores how far the work is, as any report may tell it: an interim one, the last one, a repeated one. A message that
 * comes with no phase change says what is being done; that of a phase change is in the log. What comes when all is over
 * is a repetition, and too late.
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
