import type { ResolvedCursor } from '../../core/ports/log.ts'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { cursorAt } from '../../log/cursor.ts'

/** Where a piece of a batch ends: the last one goes as far as the batch. */
export function endOf(piece: readonly PhaseChangeRecord[], isLast: boolean, through: ResolvedCursor): ResolvedCursor {
  const last = piece.at(-1)
  return isLast || !last ? through : { lineage: through.lineage, ...cursorAt(last) }
}
