import { nodesOf } from 'phaseline/client-model'
import { AskedStore } from '../../../data/asked-store.ts'
import { gql, type NodeOf, type ResultOf } from '../../../data/gql.ts'
import type { Session } from '../../../data/session.ts'

/** Deliveries that are shown of a hook. */
const SHOWN = 20

const HOOKS = gql(`query Hooks($project: String!, $first: Int!) {
  hooks(project: $project, first: 100) {
    totalCount
    edges {
      node {
        id name path format description disabled filter projects editor secrets { name }
        deliveries(first: $first) {
          totalCount
          edges { node { id at outcome reason deliveryId started { id name } } }
        }
      }
    }
  }
}`)
const DELIVERY = gql(`query Delivery($id: ID!) {
  node(id: $id) { ... on HookDelivery { id outcome headers body bodyBytes secretName hops } }
}`)

export type Hook = NodeOf<ResultOf<typeof HOOKS>['hooks']>
export type Delivery = NodeOf<Hook['deliveries']>
interface Hooks {
  readonly hooks: readonly Hook[]
  readonly totalCount: number
}

export const hooksOf = (session: Session, project: string, signal: AbortSignal): AskedStore<Hooks> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking): Promise<Hooks> => {
        const { hooks } = await client.query(HOOKS, { project, first: SHOWN }, { signal: asking })
        return { hooks: nodesOf(hooks), totalCount: hooks?.totalCount ?? 0 }
      },
      concerns: ({ projectName, kind }) => projectName === project && kind === 'EVENT',
    },
    signal,
  )

/** Headers and body of a delivery, as text; null: it is gone. */
export async function readDelivery({ client }: Session, id: string): Promise<string | null> {
  const { node } = await client.query(DELIVERY, { id })
  if (node?.id === undefined) return null
  const headers = Object.entries(node.headers as Readonly<Record<string, string>>)
  const where = node.outcome === 'DUPLICATE' ? 'kept with the delivery that it repeats' : 'not kept any more'
  const body = node.body ?? `(the body of ${node.bodyBytes} bytes is ${where})`
  return [...headers.map(([name, value]) => `${name}: ${value}`), '', body].join('\n')
}
