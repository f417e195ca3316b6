import { sameJson } from '../core/json.ts'
import type { ProjectRole } from '../core/rights.ts'
import type { Actor } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { array, bigint, boolean, integer, json, nullable, text, timestamptz, uuid } from './column-types.ts'
import { direction, inOrder, type Window } from './loaders/window.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Principals and their grants. Families add actors that Prisma's schema does not have, so all of it is SQL. */

export interface GrantRow {
  readonly role: ProjectRole
  /** Null: in all projects. */
  readonly projectId: string | null
}
/** The settings of a principal that may change. */
export interface PrincipalSettings {
  readonly name: string
  readonly administrator: boolean
  readonly grants: readonly GrantRow[]
  /** Null: all. */
  readonly types: readonly string[] | null
  readonly targets: readonly string[] | null
}
export interface PrincipalRow extends PrincipalSettings {
  readonly id: string
  readonly actor: Actor
  readonly createdAt: Date
  /** Counts the changes of its settings, from 1. */
  readonly generation: number
  /** The identity of somebody who signs in with an OpenID Connect issuer; null: the principal has tokens of its own. */
  readonly identity: Identity | null
}
export type NewPrincipal = Omit<PrincipalRow, 'generation'>
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** The columns of `principal p`, with its grants. */
export const PRINCIPAL_COLUMNS = `p.id as "principalId", p.name as "principalName", p.actor, p.administrator, p.types, p.targets,
  p.created_at as "principalSince", p.generation, p.issuer, p.subject, array(
    select jsonb_build_object('role', g.role, 'projectId', g.project_id) from principal_grant g
    where g.principal_id = p.id order by g.ordinal
  ) as grants`
export const PRINCIPAL = {
  principalId: table.principal.id,
  principalName: table.principal.name,
  actor: table.principal.actor,
  administrator: boolean,
  types: nullable(table.principal.types),
  targets: nullable(table.principal.targets),
  principalSince: table.principal.createdAt,
  generation: table.principal.generation,
  issuer: table.principal.issuer,
  subject: table.principal.subject,
  grants: array(json<GrantRow>()),
}
type Columns = {
  readonly principalId: string
  readonly principalName: string
  readonly principalSince: Date
  readonly issuer: string | null
  readonly subject: string | null
} & Omit<PrincipalRow, 'id' | 'name' | 'createdAt' | 'identity'>

export const toPrincipal = (row: Columns): PrincipalRow => ({
  id: row.principalId,
  name: row.principalName,
  actor: row.actor,
  administrator: row.administrator,
  grants: row.grants,
  types: row.types,
  targets: row.targets,
  createdAt: row.principalSince,
  generation: row.generation,
  identity: row.issuer === null || row.subject === null ? null : { issuer: row.issuer, subject: row.subject },
})

/**
 * True if all grants of `principal p` are in these projects; null stands for the view of the instance's administrator.
 */
export const isWithin = (projects: string): string => `(${projects}::uuid[] is null or not p.administrator and exists (
    select from principal_grant g where g.principal_id = p.id
  ) and not exists (
    select from principal_grant g
    where g.principal_id = p.id and (g.project_id is null or g.project_id <> all(${projects}::uuid[]))
  ))`

/** Principals for which every given condition holds. */
export interface PrincipalQuery {
  /** Only with grants in these projects only; null: all. */
  readonly projects: readonly string[] | null
  /** A part of the name, ignoring case. */
  readonly nameContains?: string | null | undefined
  readonly actor?: Actor | null | undefined
  /** True for administrators of the instance. */
  readonly administrator?: boolean | null | undefined
}
const MATCHES = `p.deleted_at is null and ${isWithin('$1')}
    and ($2::text is null or strpos(lower(p.name), lower($2)) > 0) and ($3::text is null or p.actor::text = $3)
    and ($4::boolean is null or $4 = p.administrator)`
const MATCH_PARAMS = [nullable(array(uuid)), nullable(text), nullable(text), nullable(boolean)] as const
const matchOf = ({ projects, nameContains = null, actor = null, administrator = null }: PrincipalQuery) =>
  [projects, nameContains, actor, administrator] as const

const list = (order: 'asc' | 'desc') =>
  statement({
    text: `select ${PRINCIPAL_COLUMNS} from principal p
      where ${MATCHES} and ($5::uuid is null or p.id < $5) and ($6::uuid is null or p.id > $6)
      order by p.id ${order} limit $7`,
    params: [...MATCH_PARAMS, nullable(uuid), nullable(uuid), bigint],
    row: PRINCIPAL,
  })
// The newest come first.
const LIST = { asc: list('desc'), desc: list('asc') }

/** A page of principals, the newest first. */
export async function listPrincipals(
  client: Client,
  query: PrincipalQuery,
  window: Window<string>,
): Promise<readonly PrincipalRow[]> {
  const { after, before, limit } = window
  const { rows } = await LIST[direction(window)].query(client, [...matchOf(query), after, before, limit])
  return inOrder(rows.map(toPrincipal), window)
}

const COUNT = statement({
  text: `select count(*)::integer as count from principal p where ${MATCHES}`,
  params: MATCH_PARAMS,
  row: { count: integer },
})
export async function countPrincipals(client: Client, query: PrincipalQuery): Promise<number> {
  const { rows } = await COUNT.query(client, matchOf(query))
  return rows[0]?.count ?? 0
}

const LOAD = statement({
  text: `select ${PRINCIPAL_COLUMNS} from principal p
    where p.deleted_at is null and p.id = any($2::uuid[]) and ${isWithin('$1')}`,
  params: [nullable(array(uuid)), array(uuid)],
  row: PRINCIPAL,
})

/** Principals by their ids, with grants in these projects only; null: all. */
export async function loadPrincipals(
  client: Client,
  ids: readonly string[],
  projects: readonly string[] | null,
): Promise<readonly PrincipalRow[]> {
  const { rows } = await LOAD.query(client, [projects, ids])
  return rows.map(toPrincipal)
}

const LOCK = statement({
  text: `select ${PRINCIPAL_COLUMNS} from principal p where p.id = $1 and p.deleted_at is null for no key update`,
  params: [uuid],
  row: PRINCIPAL,
})

/** Locks a principal, so that its rights are judged and changed in one piece. Null: there is none. */
export async function lockPrincipal(client: Client, id: string): Promise<PrincipalRow | null> {
  const { rows } = await LOCK.query(client, [id])
  return rows[0] ? toPrincipal(rows[0]) : null
}

const LOCK_PROJECT_IDS = statement({
  text: 'select id, name from project where name = any($1) for key share',
  params: [array(text)],
  row: { id: table.project.id, name: table.project.name },
})

/** Ids of the projects that have these names, by name. None of them is deleted before the transaction ends. */
export async function lockProjectIds(client: Client, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await LOCK_PROJECT_IDS.query(client, [names])
  return new Map(rows.map(({ id, name }) => [name, id]))
}

const LIST_OF_TEXT = nullable(array(text))
const INSERT = statement({
  text: `insert into principal (id, name, actor, administrator, types, targets, created_at)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing`,
  params: [uuid, text, table.actor, boolean, LIST_OF_TEXT, LIST_OF_TEXT, timestamptz],
})
const INSERT_GRANTS = statement({
  text: `insert into principal_grant (principal_id, ordinal, role, project_id)
    select $1, g.n - 1, g.role, g.project_id from unnest($2::text[], $3::uuid[]) with ordinality g(role, project_id, n)`,
  params: [uuid, array(text), array(nullable(uuid))],
})

/** False: there is one with this id already, which stays as it is. */
export async function insertPrincipal(client: Client, principal: NewPrincipal): Promise<boolean> {
  const { id, name, actor, administrator, types, targets, createdAt } = principal
  const { rowCount } = await INSERT.query(client, [id, name, actor, administrator, types, targets, createdAt])
  if (rowCount === 1) await insertGrants(client, id, principal.grants)
  return rowCount === 1
}

async function insertGrants(client: Client, id: string, grants: readonly GrantRow[]): Promise<void> {
  if (grants.length === 0) return
  await INSERT_GRANTS.query(client, [id, grants.map(({ role }) => role), grants.map(({ projectId }) => projectId)])
}

/** Creates a principal, or makes it what it is to be. One that is so already is not written. */
export async function ensurePrincipal(client: Client, principal: NewPrincipal): Promise<void> {
  if (await insertPrincipal(client, principal)) return
  const known = await lockPrincipal(client, principal.id)
  if (known && !sameJson(settingsOf(known), settingsOf(principal)))
    await updatePrincipal(client, principal.id, principal)
}

const settingsOf = ({ name, administrator, grants, types, targets }: NewPrincipal): PrincipalSettings => ({
  name,
  administrator,
  grants,
  types,
  targets,
})

const UPDATE = statement({
  text: `update principal set name = $2, administrator = $3, types = $4, targets = $5, generation = generation + 1
    where id = $1`,
  params: [uuid, text, boolean, LIST_OF_TEXT, LIST_OF_TEXT],
})
const REMOVE_GRANTS = statement({ text: 'delete from principal_grant where principal_id = $1', params: [uuid] })

/** Under the lock of the principal. */
export async function updatePrincipal(client: Client, id: string, settings: PrincipalSettings): Promise<void> {
  const { name, administrator, grants, types, targets } = settings
  await UPDATE.query(client, [id, name, administrator, types, targets])
  await REMOVE_GRANTS.query(client, [id])
  await insertGrants(client, id, grants)
}

const DELETE = statement({
  text: 'update principal set deleted_at = $2, administrator = false where id = $1',
  params: [uuid, timestamptz],
})

/** Takes all rights away. The row stays, since tokens and the log refer to it. */
export async function deletePrincipal(client: Client, id: string, now: Date): Promise<void> {
  await DELETE.query(client, [id, now])
  await REMOVE_GRANTS.query(client, [id])
}
