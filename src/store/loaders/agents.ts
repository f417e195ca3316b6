import type { Pool } from 'pg'
import type { Actor } from '../../core/vocabulary.ts'
import { withActors } from '../actors.ts'
import type { Client } from '../client.ts'
import { array, nullable, text, timestamptz } from '../column-types.ts'
import { listOf, prismaOn } from '../prisma.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'
import { between, direction, inOrder, type Window } from './window.ts'

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

/** A page of them in the order in which they first came. */
export async function listAgents(pool: Pool, window: Window<string>): Promise<readonly AgentRow[]> {
  const prisma = await prismaOn(pool)
  const found = await prisma.agent.findMany({
    omit: { actor: true },
    where: { id: between(window) },
    orderBy: { id: direction(window) },
    take: window.limit,
  })
  const rows = await withActors(pool, found)
  const agents = rows.map(({ allTargets, targets, ...agent }) => ({ ...agent, targets: listOf(allTargets, targets) }))
  return inOrder(agents, window)
}

export async function countAgents(pool: Pool): Promise<number> {
  const prisma = await prismaOn(pool)
  return await prisma.agent.count()
}

const LOAD_AGENTS_OF = statement({
  text: 'select distinct a.types, a.targets from agent a where a.types && $1::text[] and a.seen_at >= $2',
  params: [array(text), timestamptz],
  row: { types: table.agent.types, targets: nullable(table.agent.targets) },
})

/** Agents that work on one of these types and were seen since then. */
export async function loadAgentsOf(
  client: Client,
  types: readonly string[],
  since: Date,
): Promise<readonly Pick<AgentRow, 'types' | 'targets'>[]> {
  const { rows } = await LOAD_AGENTS_OF.query(client, [types, since])
  return rows
}
