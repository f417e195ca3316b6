import type { Claimant } from '../../core/claimant.ts'
import type { ServedTargets } from '../../core/target.ts'
import type { Actor } from '../../core/vocabulary.ts'
import type { Client } from '../client.ts'
import { array, bigint, boolean, integer, json, nullable, text, timestamptz, uuid } from '../column-types.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'
import type { Projects } from './objects.ts'
import { direction, inOrder, type Window } from './window.ts'

/** A process that has claimed work with some agent's token. */
export interface AgentRow {
  readonly id: string
  readonly name: string
  readonly instance: string
  readonly actor: Actor
  readonly types: readonly string[]
  /** Null: any, or with a selector those that it selects. */
  readonly targets: readonly string[] | null
  readonly targetSelector: ServedTargets | null
  readonly dryRuns: boolean
  readonly connectedAt: Date
  readonly seenAt: Date
}

const SELECTOR = nullable(json<ServedTargets>())

/** Agents whose principal has a grant in one of these projects, or in all; null: all agents. */
const isVisible = (projects: string) => `(${projects}::uuid[] is null or exists (
    select from principal_grant g
    where g.principal_id = a.principal_id and (g.project_id is null or g.project_id = any(${projects}::uuid[]))))`

export const AGENT_SELECTION = `a.id, a.name, a.instance, a.actor, a.types, a.targets, a.target_selector as "targetSelector",
    a.dry_runs as "dryRuns", a.connected_at as "connectedAt", a.seen_at as "seenAt"`
export const AGENT_ROW = {
  ...{ id: table.agent.id, name: table.agent.name, instance: table.agent.instance, actor: table.agent.actor },
  ...{ types: table.agent.types, targets: nullable(table.agent.targets), targetSelector: SELECTOR },
  dryRuns: table.agent.dryRuns,
  ...{ connectedAt: table.agent.connectedAt, seenAt: table.agent.seenAt },
}

/** Agents for which every given condition holds. */
export interface AgentQuery {
  /** They work for one of these; null: for any. */
  readonly projects: Projects
  /** True for those that were seen since then, false for the others; null: for all. */
  readonly connected: boolean | null
  readonly since: Date
}
const MATCHES = `${isVisible('$1')} and ($2::boolean is null or $2 = (a.seen_at >= $3))`
const MATCH_PARAMS = [nullable(array(uuid)), nullable(boolean), timestamptz] as const
const matchOf = ({ projects, connected, since }: AgentQuery) => [projects, connected, since] as const

const list = (order: 'asc' | 'desc') =>
  statement({
    text: `select ${AGENT_SELECTION}
      from agent a where ($4::uuid is null or a.id > $4) and ($5::uuid is null or a.id < $5) and ${MATCHES}
      order by a.id ${order} limit $6`,
    params: [...MATCH_PARAMS, nullable(uuid), nullable(uuid), bigint],
    row: AGENT_ROW,
  })
const LIST = { asc: list('asc'), desc: list('desc') }

/** A page of those who match, in the order in which they first came. */
export async function listAgents(
  client: Client,
  query: AgentQuery,
  window: Window<string>,
): Promise<readonly AgentRow[]> {
  const { after, before, limit } = window
  const { rows } = await LIST[direction(window)].query(client, [...matchOf(query), after, before, limit])
  return inOrder(rows, window)
}

const COUNT = statement({
  text: `select count(*)::integer as count from agent a where ${MATCHES}`,
  params: MATCH_PARAMS,
  row: { count: integer },
})

export async function countAgents(client: Client, query: AgentQuery): Promise<number> {
  const { rows } = await COUNT.query(client, matchOf(query))
  return rows[0]?.count ?? 0
}

/** Ids of the projects for which the principal may work as an agent; null: all. */
export const projectsOfAgent = (principalId: string): string => `(
    select case when bool_or(g.project_id is null) then null else coalesce(array_agg(g.project_id), '{}') end
    from principal_grant g where g.principal_id = ${principalId} and g.role = 'AGENT')`

const LOAD_AGENTS_OF = statement({
  text: `select distinct a.types, a.targets, a.target_selector as "targetSelector", ${projectsOfAgent('a.principal_id')} as "projectIds"
    from agent a where a.types && $1::text[] and a.seen_at >= $2 and (a.dry_runs or not $3)`,
  params: [array(text), timestamptz, boolean],
  row: {
    types: table.agent.types,
    targets: nullable(table.agent.targets),
    targetSelector: SELECTOR,
    projectIds: nullable(array(uuid)),
  },
})

/** Agents that work on one of these types and were seen since then. */
export async function loadAgentsOf(
  client: Client,
  types: readonly string[],
  since: Date,
  { dryRuns = false }: { readonly dryRuns?: boolean } = {},
): Promise<readonly Claimant[]> {
  const { rows } = await LOAD_AGENTS_OF.query(client, [types, since, dryRuns])
  return rows
}
