import { eachPage } from '../../../cli/list.ts'
import { asWritten, ORDER } from '../../../cli/manifests/appliable.ts'
import { recordKind } from '../../../cli/manifests/record-kind.ts'
import type { RecordName } from '../../../cli/objects/record-commands.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { type FragmentOf, gql } from '../../../documents/gql.ts'
import type { VariablesOf } from '../../../documents/typed-document.ts'
import {
  appliedNotificationRule,
  type NotificationRuleManifest,
  notificationRuleInput,
  notificationRuleManifest,
  notificationRuleSchema,
} from '../../../manifest/index.ts'

const RULE = `fragment RuleFields on NotificationRule {
  id name project { name } description enabled mayRead editor generation pendingCount text
  changes { projects kinds to classes reasons rootsOnly labels { key value } } receiver { channel url secret to }
  digest { windowMs } quietHours { timeZone ranges { days from to } } urgent
}`
/** A rule as the commands show it. */
export type FoundRule = FragmentOf<typeof RULE>

const FIND = gql(`query FindNotificationRule($project: String!, $name: String!) {
  notificationRule(project: $project, name: $name) { ...RuleFields }
}\n${RULE}`)
const LIST = gql(`query ListExportedRules($project: String, $first: Int!, $after: String) {
  notificationRules(project: $project, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { id name } }
  }
}`)
const READ = gql(`query ReadNotificationRules($ids: [ID!]!) { nodes(ids: $ids) { ...RuleFields } }\n${RULE}`)
const CREATE = gql(`mutation ApplyNewNotificationRule($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) { __typename ... on NotificationRule { id enabled generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UPDATE = gql(`mutation ApplyNotificationRule($input: UpdateNotificationRuleInput!) {
  answer: updateNotificationRule(input: $input) { __typename ... on NotificationRule { id enabled generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
type Input = VariablesOf<typeof CREATE>['input']

export async function findRule({ client, io }: Session, wanted: RecordName): Promise<FoundRule | null> {
  return (await client.query(FIND, { ...wanted }, { signal: io.signal })).notificationRule
}

export const rules = recordKind<NotificationRuleManifest, NotificationRuleManifest, FoundRule>({
  ...{ kind: 'NotificationRule', noun: 'rule', order: ORDER.teller, schema: notificationRuleSchema },
  complete: asWritten,
  find: (session, { project, name }) => findRule(session, { project, name }),
  manifest: notificationRuleManifest,
  applied: appliedNotificationRule,
  async write(session, found, { project, name, ...manifest }) {
    // The server knows the words for kinds and phases.
    const rule = notificationRuleInput({ ...manifest, name }) as Omit<Input, 'name' | 'project'>
    const outcome = found
      ? await ask(session, UPDATE, { id: found.id, expectedGeneration: found.generation, ...rule })
      : await ask(session, CREATE, { project, name, ...rule })
    if (!outcome.ok) return outcome
    const { id, enabled, generation } = outcome.value
    const isChanged = generation !== found?.generation
    return { ok: true, value: { said: enabled ? null : 'disabled', isChanged, fields: { id, enabled } } }
  },
  async *list(session, project, labels) {
    if (labels.length === 0)
      yield* eachPage(session, { document: LIST, page: (all) => all.notificationRules }, { project })
  },
  async read({ client, io }, ids) {
    const { nodes } = await client.query(READ, { ids }, { signal: io.signal })
    return nodes.map((node) => (node?.receiver ? node : null))
  },
})
