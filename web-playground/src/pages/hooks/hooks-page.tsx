import { gql, type NodeOf, type ResultOf } from '../../data/gql.ts'
import { lastCells, ThingsPage } from '../../ui/things-page.tsx'

const ALL_HOOKS = gql(`query AllHooks($project: String, $first: Int!, $after: String) {
  hooks(project: $project, first: $first, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges {
      node {
        id name path format disabled project { name }
        deliveries(first: 1) { totalCount edges { node { at outcome reason } } }
      }
    }
  }
}`)
type Hook = NodeOf<ResultOf<typeof ALL_HOOKS>['hooks']>

/** The hooks of all projects with their last deliveries. */
export default function HooksPage() {
  return (
    <ThingsPage<Hook>
      title="Hooks"
      noun="hook"
      columns={['Format', 'Address', 'Received', 'Last outcome', 'When']}
      read={async ({ client }, asked, signal) => (await client.query(ALL_HOOKS, asked, { signal })).hooks}
      cells={cells}
      none={
        <p>
          A hook is an address to which GitHub, GitLab and others post what has happened there. Add one on the page of a
          project, or <code>phaseline hook apply -f FILE</code>.
        </p>
      }
    />
  )
}

function cells({ format, disabled, path, deliveries }: Hook) {
  const last = deliveries.edges[0]?.node
  return [
    <>
      {format} {disabled && <b className="wrong">disabled</b>}
    </>,
    <code key="path" title={path}>
      {path}
    </code>,
    deliveries.totalCount?.toLocaleString('en'),
    ...lastCells(last && { ...last, problem: last.reason, isWrong: WRONG.includes(last.outcome) }),
  ]
}

const WRONG = ['REFUSED', 'FORBIDDEN']
