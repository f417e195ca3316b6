import type { Actor } from '../../core/vocabulary.ts'
import type { Client } from '../client.ts'
import { array, integer, nullable, text, timestamptz } from '../column-types.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'
import { direction, inOrder, type Window } from './window.ts'

/** A process that has claimed work with some agent's token. */
export interface AgentRow {
  readonly id: string
  readonly name: string
  readonly instance: string
  readonly actor: Actor
  readonly types: readonly string[]
  /** Null: any. */
  readonly targets: readonly string[] | null
  readonly connectedAt: Date
  readonly seenAt: Date
}

const SELECTION =
  'a.id, a.name, a.instance, a.actor, a.types, a.targets, a.connected_at as "connectedAt", a.seen_at as "seenAt"'

/** A page of them in the order in which they first came. */
export async function listAgents(client: Client, window: Window<string>): Promise<readonly AgentRow[]> {
  const { rows } = await client.query<AgentRow>({
    text: `select ${SELECTION} from agent a where ($1::uuid is null or a.id > $1) and ($2::uuid is null or a.id < $2)
      order by a.id ${direction(window)} limit $3`,
    values: [window.after, window.before, window.limit],
  })
  return inOrder(rows, window)
}

const COUNT_AGENTS = statement({ text: 'select count(*)::int as count from agent', row: { count: integer } })

export async function countAgents(client: Client): Promise<number> {
  const { rows } = await COUNT_AGENTS.query(client, [])
  return rows[0]?.count ?? 0
}

const LOAD_AGENTS_OF = statement({
  text: 'select distinct a.types, a.targets from agent a where a.types && $1::text[] and a.seen_at >= $2',
  params: [array(text), timestamptz],
  row: { types: table.agent.types, targets: nullable(table.agent.targets) },
})

/** Those that work on one of these types and were seen since then. */
export async function loadAgentsOf(
  client: Client,
  types: readonly string[],
  since: Date,
): Promise<readonly Pick<AgentRow, 'types' | 'targets'>[]> {
  const { rows } = await LOAD_AGENTS_OF.query(client, [types, since])
  return rows
}
