import type { ResolvedCursor } from '../../core/ports/log.ts'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { cursorAt } from '../../log/cursor.ts'

/** The cursor at the end of a piece of a batch: the last piece ends where the batch does. */
export function endOf(piece: readonly PhaseChangeRecord[], isLast: boolean, through: ResolvedCursor): ResolvedCursor {
  const last = piece.at(-1)
  return isLast || !last ? through : { lineage: through.lineage, ...cursorAt(last) }
}
