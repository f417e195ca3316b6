import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { loadHistories } from '../../store/loaders/phase-changes.ts'
import type { GraphQLContext } from '../context.ts'

/** The creation of a tree that did not exist yet at a sequence; null: it did, or the log does not hold its creation. */
export async function creationAfter(
  { pool }: Pick<GraphQLContext, 'pool'>,
  { rootId, sequence }: { readonly rootId: string; readonly sequence: number },
): Promise<PhaseChangeRecord | null> {
  const window = { after: sequence, before: null, backward: false, limit: 1 }
  const [first] = (await loadHistories(pool, [rootId], false, window)).get(rootId) ?? []
  return first?.from === null ? first : null
}
