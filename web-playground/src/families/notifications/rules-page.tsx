import { gql, type NodeOf, type ResultOf } from '../../data/gql.ts'
import { lastCells, ThingsPage } from '../../ui/things-page.tsx'
import { receiverOf, selectionOf } from './describe-rule.ts'

const ALL_RULES = gql(`query AllRules($project: String, $first: Int!, $after: String) {
  notificationRules(project: $project, first: $first, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges {
      node {
        id name enabled mayRead pendingCount project { name }
        changes { projects kinds to classes reasons rootsOnly labels { key value } } receiver { channel url secret to }
        notifications(first: 1) { edges { node { state problem createdAt } } }
      }
    }
  }
}`)
type Rule = NodeOf<ResultOf<typeof ALL_RULES>['notificationRules']>

/** The notification rules of all projects with their last messages. */
export default function RulesPage() {
  return (
    <ThingsPage<Rule>
      title="Notifications"
      noun="rule"
      columns={['Tells', 'To', 'Waiting', 'Last message', 'When']}
      read={async ({ client }, asked, signal) => (await client.query(ALL_RULES, asked, { signal })).notificationRules}
      cells={cells}
      none={
        <p>
          A rule tells phase changes to webhooks, chats and people. Add one on the page of a project, or{' '}
          <code>phaseline notification apply -f FILE</code>.
        </p>
      }
    />
  )
}

function cells(rule: Rule) {
  const { enabled, mayRead, pendingCount, receiver, notifications } = rule
  const last = notifications.edges[0]?.node
  return [
    <>
      <span title={selectionOf(rule)}>{selectionOf(rule)}</span> {!enabled && <b className="wrong">disabled</b>}
      {!mayRead && <b className="wrong">without rights</b>}
    </>,
    <>
      {receiver.channel} <code title={receiverOf(rule)}>{receiverOf(rule)}</code>
    </>,
    pendingCount.toLocaleString('en'),
    ...lastCells(last && { ...last, outcome: last.state, at: last.createdAt, isWrong: last.problem !== null }),
  ]
}
