import { FAILURE_FIELDS } from 'phaseline/client-model'
import { AskedStore } from './asked-store.ts'
import { gql, type ResultOf } from './gql.ts'
import type { Session } from './session.ts'
import { DIFFERENCES } from './tree-changes.ts'

const RUN = `number phase cause by startedAt durationMs generation error { ${FAILURE_FIELDS} }` as const
const COMPARE_RUNS = gql(`query RunComparison($id: ID!, $a: Int!, $b: Int!) {
  compareRuns(id: $id, a: $a, b: $b) {
    truncated a { ${RUN} } b { ${RUN} }
    spec { ${DIFFERENCES} }
    exports { ${DIFFERENCES} }
    objects { objectId kind path phaseA phaseB durationMsA durationMsB }
  }
}`)

/** Null: one of the runs is not kept. */
export type RunComparison = ResultOf<typeof COMPARE_RUNS>['compareRuns']

export const runComparisonOf = (
  session: Session,
  { id, runs: [a, b] }: { readonly id: string; readonly runs: readonly [number, number] },
  signal: AbortSignal,
): AskedStore<{ readonly comparison: RunComparison }> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) => {
        const { compareRuns } = await client.query(COMPARE_RUNS, { id, a, b }, { signal: asking })
        return { comparison: compareRuns }
      },
      concerns: (change) => change.rootId === id,
    },
    signal,
  )
