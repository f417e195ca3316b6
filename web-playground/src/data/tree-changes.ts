import { SPANS, type Span } from '../model/time-range.ts'
import { AskedStore } from './asked-store.ts'
import { gql, type ResultOf } from './gql.ts'
import type { Session } from './session.ts'

export const DIFFERENCES = 'truncated differences { path change before after }'
const TREE_CHANGES = gql(`query TreeChanges($rootId: ID!, $fromTime: DateTime!) {
  treeDiff(rootId: $rootId, fromTime: $fromTime) {
    rootId fromTime objectCount creation { at actor by }
    objects { objectId path kind change before after object { id } }
    spec { ${DIFFERENCES} }
    exports { ${DIFFERENCES} }
  }
}`)

/** Null: the log has no such tree. */
export type TreeChanges = ResultOf<typeof TREE_CHANGES>['treeDiff']
export type ValueChanges = NonNullable<NonNullable<TreeChanges>['spec']>

/** The changes of a tree since a time, or within the last hour, day or week, up to now. */
export const treeChangesOf = (
  session: Session,
  { rootId, last, since }: { readonly rootId: string; readonly last: Span; readonly since: string },
  signal: AbortSignal,
): AskedStore<{ readonly changes: TreeChanges }> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) => {
        const fromTime = since || new Date(Date.now() - SPANS[last]).toISOString()
        const { treeDiff } = await client.query(TREE_CHANGES, { rootId, fromTime }, { signal: asking })
        return { changes: treeDiff }
      },
      concerns: (change) => change.rootId === rootId,
    },
    signal,
  )
