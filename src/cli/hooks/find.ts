import { type FragmentOf, gql } from '../../documents/gql.ts'
import type { RecordName } from '../objects/record-commands.ts'
import type { Session } from '../session.ts'

export const HOOK_FIELDS = `fragment HookFields on Hook {
  id name path format description disabled filter projects deliveryId editor generation createdAt updatedAt
  project { name } secrets { name createdAt } signature { header algorithm encoding prefix } redelivery { address checkedAt problem }
  event { project source type payload qualifiers { key value } labels { key value } } defaultEvent { source type }
}`
/** A hook as the commands show it. */
export type FoundHook = FragmentOf<typeof HOOK_FIELDS>
const FIND = gql(
  `query FindHook($project: String!, $name: String!) { hook(project: $project, name: $name) { ...HookFields } }\n${HOOK_FIELDS}`,
)

export async function findHook({ client, io }: Session, wanted: RecordName): Promise<FoundHook | null> {
  return (await client.query(FIND, { ...wanted }, { signal: io.signal })).hook
}
