import { nodesOf } from 'phaseline/client-model'
import { AskedStore } from '../../data/asked-store.ts'
import { gql, type NodeOf, type ResultOf } from '../../data/gql.ts'
import type { Session } from '../../data/session.ts'

/** Messages that are shown of a rule. */
const SHOWN = 20

const RULES = gql(`query NotificationRulesOf($project: String!, $first: Int!) {
  notificationRules(project: $project, first: 100) {
    totalCount
    edges {
      node {
        id name description enabled mayRead pendingCount editor text
        changes { projects kinds to classes reasons rootsOnly labels { key value } } receiver { channel url secret to }
        digest { windowMs } quietHours { timeZone ranges { days from to } } urgent
        notifications(first: $first) {
          totalCount
          edges { node { id text state attempts due problem createdAt object { id root { id } } } }
        }
      }
    }
  }
}`)

export type Rule = NodeOf<ResultOf<typeof RULES>['notificationRules']>
export type Message = NodeOf<Rule['notifications']>
interface Rules {
  readonly rules: readonly Rule[]
  readonly totalCount: number
}

/** Any change in the project may have a message. */
export function rulesOf(session: Session, project: string, signal: AbortSignal): AskedStore<Rules> {
  let isOfSeveral = false
  return new AskedStore(
    session,
    {
      ask: async ({ client }, asking): Promise<Rules> => {
        const { notificationRules } = await client.query(RULES, { project, first: SHOWN }, { signal: asking })
        const rules = nodesOf(notificationRules)
        isOfSeveral = rules.some(({ changes }) => changes.projects.length > 0)
        return { rules, totalCount: notificationRules?.totalCount ?? 0 }
      },
      // A rule of several projects may have one for any change.
      concerns: ({ projectName }) => projectName === project || isOfSeveral,
    },
    signal,
  )
}
