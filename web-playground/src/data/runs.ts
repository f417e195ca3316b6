import type { Client } from 'phaseline/client'
import { FAILURE_FIELDS, nodesOf } from 'phaseline/client-model'
import { AskedStore } from './asked-store.ts'
import { gql, type ResultOf } from './gql.ts'
import type { Session } from './session.ts'

const RUNS = gql(`query InstallationRuns($id: ID!, $first: Int!) {
  object(id: $id) { ... on Installation { generation specGenerations { generation } runs(first: $first) {
    totalCount
    edges { node { number mode cause by generation startedAt endedAt durationMs phase error { ${FAILURE_FIELDS} } } }
  } } }
}`)
const SPECS = gql(`query InstallationSpecs($id: ID!) {
  object(id: $id) { ... on Installation { generation spec specGenerations { generation spec } } }
}`)

const MOST = 20
type Found = NonNullable<ResultOf<typeof RUNS>['object']>
export type Run = NonNullable<Found['runs']>['edges'][number]['node']

export interface Runs {
  readonly newest: readonly Run[]
  readonly count: number
  /** The generation of the present spec. */
  readonly generation: number
  /** Generations of the earlier specs that are kept. */
  readonly kept: readonly number[]
}

/** The runs of a root installation, the newest first. */
export const runsOf = (session: Session, id: string, signal: AbortSignal): AskedStore<Runs> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) => {
        const { object } = await client.query(RUNS, { id, first: MOST }, { signal: asking })
        return {
          newest: nodesOf(object?.runs ?? null),
          count: object?.runs?.totalCount ?? 0,
          generation: object?.generation ?? 0,
          kept: (object?.specGenerations ?? []).map(({ generation }) => generation),
        }
      },
      concerns: ({ objectId }) => objectId === id,
    },
    signal,
  )

export interface Specs {
  readonly generation: number
  readonly present: unknown
  readonly earlier: unknown
}

/** The present spec and an earlier one; null once one of them is gone. */
export async function specsOf(client: Client, id: string, earlier: number): Promise<Specs | null> {
  const { object } = await client.query(SPECS, { id })
  const kept = object?.specGenerations?.find(({ generation }) => generation === earlier)
  if (!kept || object?.generation === undefined) return null
  return { generation: object.generation, present: object.spec, earlier: kept.spec }
}
