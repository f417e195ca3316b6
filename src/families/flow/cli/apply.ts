import { eachPage } from '../../../cli/list.ts'
import { asWritten, ORDER } from '../../../cli/manifests/appliable.ts'
import { recordKind } from '../../../cli/manifests/record-kind.ts'
import type { RecordName } from '../../../cli/objects/record-commands.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { type FragmentOf, gql } from '../../../documents/gql.ts'
import { appliedLimit, type LimitManifest, limitInput, limitManifest, limitSchema } from '../../../manifest/index.ts'

const LIMIT = `fragment LimitFields on Limit {
  id name project { name } description max maxPerKey rate { count perMs } weights { key weight } strategy debounceMs shared
  pause { at by reason } overrides { key maxPerKey rate { count perMs } until by } generation runningCount waitingCount
}`
/** A limit as the commands show it. */
export type FoundLimit = FragmentOf<typeof LIMIT>

const FIND = gql(`query FindLimit($project: String!, $name: String!) {
  limit(project: $project, name: $name) { ...LimitFields }
}\n${LIMIT}`)
const LIST = gql(`query ListExportedLimits($project: String, $first: Int!, $after: String) {
  limits(project: $project, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { id name } }
  }
}`)
const READ = gql(`query ReadLimits($ids: [ID!]!) { nodes(ids: $ids) { ...LimitFields } }\n${LIMIT}`)
const CREATE = gql(`mutation ApplyNewLimit($input: CreateLimitInput!) {
  answer: createLimit(input: $input) { __typename ... on Limit { id generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UPDATE = gql(`mutation ApplyLimit($input: UpdateLimitInput!) {
  answer: updateLimit(input: $input) { __typename ... on Limit { id generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

export async function findLimit({ client, io }: Session, wanted: RecordName): Promise<FoundLimit | null> {
  return (await client.query(FIND, { ...wanted }, { signal: io.signal })).limit
}

export const limits = recordKind<LimitManifest, LimitManifest, FoundLimit>({
  ...{ kind: 'Limit', noun: 'limit', order: ORDER.bound, schema: limitSchema },
  complete: asWritten,
  find: (session, { project, name }) => findLimit(session, { project, name }),
  manifest: limitManifest,
  applied: appliedLimit,
  async write(session, found, { project, name, ...manifest }) {
    const limit = limitInput({ ...manifest, name })
    const outcome = found
      ? await ask(session, UPDATE, { id: found.id, expectedGeneration: found.generation, ...limit })
      : await ask(session, CREATE, { project, name, ...limit })
    if (!outcome.ok) return outcome
    const { id, generation } = outcome.value
    return { ok: true, value: { said: null, isChanged: generation !== found?.generation, fields: { id } } }
  },
  async *list(session, project, labels) {
    if (labels.length === 0) yield* eachPage(session, { document: LIST, page: (all) => all.limits }, { project })
  },
  async read({ client, io }, ids) {
    const { nodes } = await client.query(READ, { ids }, { signal: io.signal })
    return nodes.map((node) => (node?.generation === undefined ? null : node))
  },
})
