import { nodesOf } from 'phaseline/client-model'
import { AskedStore } from '../../../data/asked-store.ts'
import { gql, type NodeOf, type ResultOf } from '../../../data/gql.ts'
import type { Session } from '../../../data/session.ts'

const TARGETS = gql(`query Targets($project: String!) {
  targets(filter: { project: $project }, first: 200) {
    totalCount
    edges {
      node {
        name type description hasCredentials updatedAt labels { key value }
        servingAgents(first: 3) { totalCount edges { node { name instance } } }
        uses(first: 5) { totalCount edges { node { itemCount root { id name } } } }
      }
    }
  }
}`)

export type Target = NodeOf<ResultOf<typeof TARGETS>['targets']>
interface Targets {
  readonly targets: readonly Target[]
  readonly totalCount: number
}

export const targetsOf = (session: Session, project: string, signal: AbortSignal): AskedStore<Targets> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking): Promise<Targets> => {
        const { targets } = await client.query(TARGETS, { project }, { signal: asking })
        return { targets: nodesOf(targets), totalCount: targets?.totalCount ?? 0 }
      },
      concerns: ({ projectName, kind }) => projectName === project && kind === 'DEPLOY_ITEM',
    },
    signal,
  )
