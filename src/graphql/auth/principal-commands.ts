import type { AuditTarget } from '../../core/audit.ts'
import { canRead } from '../../core/can-read.ts'
import {
  forbidden,
  generationMismatch,
  invalidInput,
  notFound,
  type Refusal,
  type RefusalOf,
} from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { type Grant, isAbove, isAdministrator, requireGrants } from '../../core/rights.ts'
import { recordDoneIn } from '../../store/audit.ts'
import { isBuiltIn } from '../../store/built-in-principals.ts'
import type { Client } from '../../store/client.ts'
import { type Keyed, type KeyedRequest, type Repeat, repeatable } from '../../store/idempotency.ts'
import { isUuid } from '../../store/objects.ts'
import {
  deletePrincipal as deleteRow,
  type GrantRow,
  insertPrincipal,
  lockPrincipal,
  lockProjectIds,
  type PrincipalRow,
  updatePrincipal as updateRow,
} from '../../store/principals.ts'
import { lockToken, revokeToken as revokeRow, revokeTokensOf, type TokenRow } from '../../store/tokens.ts'
import type { GraphQLContext } from '../context.ts'
import {
  type CreatePrincipal,
  type CreateToken,
  type GrantInput,
  type NamedPrincipal,
  readNewToken,
  readPrincipal,
  readToken,
} from './principal-input.ts'
import { grantsOf } from './tokens.ts'

/**
 * Writes of principals and tokens, each in one transaction. An administrator of projects may only write principals
 * whose grants are all in these projects, and cannot give a right that it lacks: neither by a grant, nor by a token of
 * a principal that has one.
 */

type Parts = Pick<GraphQLContext, 'records' | 'system' | 'tokens' | 'viewer'>
type Invalid = RefusalOf<'InvalidInputError'>
type Forbidden = RefusalOf<'ForbiddenError'>
type Missing = RefusalOf<'NotFoundError'>
type Conflict = RefusalOf<'ConflictError'>
const refuse = <R extends Refusal>(refusal: R): { readonly ok: false; readonly refusal: R } => ({ ok: false, refusal })

interface WithSecret {
  readonly row: TokenRow
  readonly secret: string
}
type Created = Outcome<WithSecret, Invalid | Forbidden>

/** Creates a token with a principal of its own. */
export async function createToken(parts: Parts, input: CreateToken & Keyed): Promise<Created> {
  const read = readToken(input)
  if (!read.ok) return read
  const create = async (client: Client): Promise<Created> => {
    const created = await insert(client, parts, read.principal)
    if (!created.ok) return created
    return { ok: true, ...(await parts.tokens.create(client, created.principal, read.token)) }
  }
  const request = { mutation: 'createToken', input, subject: subjectOfNew(read.principal, input) }
  return await once(parts, request, create, (client) => sameToken(parts, client))
}

/**
 * The secret of the first answer is stored nowhere. As long as nobody has used it, that answer counts as lost, and the token
 * gets another one.
 */
const sameToken = ({ tokens, viewer, system }: Parts, client: Client): Repeat<WithSecret, Invalid | Forbidden> => ({
  idOf: ({ row }) => row.id,
  again: async (id) => {
    const row = await lockToken(client, id)
    const isValid = row?.revokedAt === null && (row.expiresAt === null || row.expiresAt > system.now())
    if (!isValid || !administers(viewer, row.principal))
      return refuse(keyOf(`has created the token ${id}, which is not valid any more`))
    const refused = requireGrants(viewer, grantedTo(row.principal))
    if (refused) return refuse(refused)
    if (row.lastUsedAt !== null)
      return refuse(keyOf(`has created the token ${id}, which is in use: its secret is not shown again`))
    return { ok: true, row, secret: await tokens.renew(client, id) }
  },
})
const keyOf = (message: string): Invalid => invalidInput([{ path: 'input.idempotencyKey', message }])

type Written<R extends Refusal> = Outcome<{ readonly principal: PrincipalRow }, R>

export async function createPrincipal(
  parts: Parts,
  input: CreatePrincipal & Keyed,
): Promise<Written<Invalid | Forbidden>> {
  const read = readPrincipal(input)
  if (!read.ok) return read
  const create = (client: Client): Promise<Written<Invalid | Forbidden>> => insert(client, parts, read.principal)
  const request = { mutation: 'createPrincipal', input, subject: subjectOfNew(read.principal, input) }
  return await once(parts, request, create, (client) => samePrincipal(parts, client))
}

const samePrincipal = ({ viewer }: Parts, client: Client): Repeat<{ readonly principal: PrincipalRow }, Invalid> => ({
  idOf: ({ principal }) => principal.id,
  again: async (id) => {
    const known = await lock(client, viewer, id)
    return known.ok ? known : refuse(keyOf(`has written the principal ${id}, which is deleted since`))
  },
})

async function insert(
  client: Client,
  { viewer, system }: Pick<Parts, 'viewer' | 'system'>,
  wanted: NamedPrincipal,
): Promise<Written<Invalid | Forbidden>> {
  const found = await findGrants(client, viewer, wanted)
  if (!found.ok) return found
  const { grants } = found
  const principal = { ...wanted, id: system.id(), grants, createdAt: system.now(), generation: 1, identity: null }
  const refused = refusalOf(viewer, principal)
  if (refused) return refuse(refused)
  await insertPrincipal(client, principal)
  return { ok: true, principal }
}

export interface UpdatePrincipal {
  readonly id: string
  readonly name?: string | null
  readonly administrator?: boolean | null
  readonly grants?: readonly GrantInput[] | null
  readonly types?: readonly string[] | null
  readonly targets?: readonly string[] | null
  readonly expectedGeneration?: number | null
}
type Updated = Written<Invalid | Forbidden | Missing | Conflict>

/** Changes only the fields of the input. */
export async function updatePrincipal(parts: Parts, input: UpdatePrincipal & Keyed): Promise<Updated> {
  const { viewer } = parts
  const { id, expectedGeneration = null } = input
  const update = async (client: Client): Promise<Updated> => {
    const locked = await lockOwned(client, viewer, id)
    if (!locked.ok) return locked
    const { principal } = locked
    if (expectedGeneration !== null && expectedGeneration !== principal.generation)
      return refuse(generationMismatch(principal.generation, expectedGeneration))
    const { types = principal.types, targets = principal.targets } = input
    const settings = {
      name: input.name ?? principal.name,
      actor: principal.actor,
      administrator: input.administrator ?? principal.administrator,
      grants: input.grants ?? [],
      types,
      targets,
    }
    const read = readPrincipal(settings, principal.name)
    if (!read.ok) return read
    const found = input.grants ? await findGrants(client, viewer, read.principal) : { ok: true as const, ...principal }
    if (!found.ok) return found
    const changed = { ...principal, ...read.principal, grants: found.grants }
    const refused = refusalOf(viewer, changed, principal.grants)
    if (refused) return refuse(refused)
    await updateRow(client, id, changed)
    return { ok: true, principal: { ...changed, generation: principal.generation + 1 } }
  }
  const request = { mutation: 'updatePrincipal', input, subject: subjectOf(id) }
  return await once(parts, request, update, (client) => samePrincipal(parts, client))
}

/** Deletes a principal and revokes its tokens. */
export const deletePrincipal = (
  { records, tokens, viewer, system }: Parts,
  id: string,
): Promise<Written<Invalid | Missing>> =>
  write({ records, tokens, viewer }, subjectOf(id), async (client): Promise<Written<Invalid | Missing>> => {
    const locked = await lock(client, viewer, id)
    if (!locked.ok) return locked
    const now = system.now()
    await revokeTokensOf(client, id, now)
    await deleteRow(client, id, now)
    return locked
  })

export async function createPrincipalToken(
  parts: Parts,
  input: Keyed & { readonly principalId: string; readonly name: string; readonly expiresInMs?: number | null },
): Promise<Outcome<WithSecret, Invalid | Forbidden | Missing>> {
  const read = readNewToken(input)
  if (!read.ok) return read
  const create = async (client: Client): Promise<Outcome<WithSecret, Invalid | Forbidden | Missing>> => {
    const locked = await lockOwned(client, parts.viewer, input.principalId)
    if (!locked.ok) return locked
    const refused = requireGrants(parts.viewer, grantedTo(locked.principal))
    if (refused) return refuse(refused)
    return { ok: true, ...(await parts.tokens.create(client, locked.principal, read.token)) }
  }
  const request = { mutation: 'createPrincipalToken', input, subject: subjectOf(input.principalId) }
  return await once(parts, request, create, (client) => sameToken(parts, client))
}

/** Revokes a token, and those that are derived from it. One that is revoked stays so. */
export const revokeToken = (
  { records, tokens, viewer, system }: Parts,
  id: string,
): Promise<Outcome<{ readonly row: TokenRow }, Missing>> =>
  write(
    { records, tokens, viewer },
    `The token ${id}`,
    async (client): Promise<Outcome<{ readonly row: TokenRow }, Missing>> => {
      const token = isUuid(id) ? await lockToken(client, id) : null
      if (!token || !administers(viewer, token.principal)) return refuse(notFound(id, 'token'))
      await revokeRow(client, id, system.now())
      return { ok: true, row: token }
    },
  )

/** No row has the rights of a principal that an issuer signs in: they may be any, so only an administrator is above it. */
const administers = (viewer: Viewer, principal: PrincipalRow): boolean =>
  principal.identity ? isAdministrator(viewer) : isAbove(viewer, grantsOf(principal))

/** Locks a principal that the viewer administers. Others are not found, and built-in ones are refused. */
async function lock(client: Client, viewer: Viewer, id: string): Promise<Written<Invalid | Missing>> {
  const principal = isUuid(id) ? await lockPrincipal(client, id) : null
  if (!principal || !administers(viewer, principal)) return refuse(notFound(id, 'principal'))
  return isBuiltIn(id) ? refuse(BUILT_IN) : { ok: true, principal }
}

/** The same for one whose rights are stored here: those of others come from the access policy. */
async function lockOwned(client: Client, viewer: Viewer, id: string): Promise<Written<Invalid | Missing>> {
  const locked = await lock(client, viewer, id)
  return locked.ok && locked.principal.identity ? refuse(OF_ISSUER) : locked
}

const OF_ISSUER = invalidInput([
  {
    path: 'input',
    message:
      'names a principal that an issuer signs in: only the access policy (PHASELINE_ACCESS_POLICY) gives it rights',
  },
])
const BUILT_IN = invalidInput([
  { path: 'input', message: 'names a principal of the server itself: only the setting PHASELINE_TOKEN changes it' },
])
type Wanted = Pick<PrincipalRow, 'actor' | 'administrator' | 'grants'>
const grantedTo = (principal: Wanted) => ({ actor: principal.actor, grants: grantsOf(principal) })

/** Why the viewer may not write this principal, which has some of its grants already. */
function refusalOf(viewer: Viewer, principal: Wanted, present: readonly Grant[] = []): Forbidden | null {
  const { actor, grants } = grantedTo(principal)
  if (!isAbove(viewer, grants)) return beyond(viewer)
  const isPresent = (grant: Grant): boolean =>
    present.some(({ role, projectId }) => role === grant.role && projectId === grant.projectId)
  return requireGrants(viewer, { actor, grants: grants.filter((grant) => !isPresent(grant)) })
}

const beyond = ({ name }: Viewer): Forbidden =>
  forbidden(`${name} may write principals only within the projects that it administers.`)

/** The projects as they are now. One that the viewer may not read is unknown to it. */
async function findGrants(
  client: Client,
  viewer: Viewer,
  { grants }: Pick<NamedPrincipal, 'grants'>,
): Promise<Outcome<{ readonly grants: readonly GrantRow[] }, Invalid>> {
  const names = [...new Set(grants.flatMap(({ project }) => project ?? []))]
  const ids = names.length > 0 ? await lockProjectIds(client, names) : new Map<string, string>()
  const idOf = (project: string): string | null => {
    const projectId = ids.get(project)
    return projectId !== undefined && canRead(viewer, { projectId }) ? projectId : null
  }
  const problems = grants.flatMap(({ project, path }) =>
    project !== null && idOf(project) === null ? [{ path, message: `there is no project ${project}` }] : [],
  )
  const unique = [...new Map(problems.map((problem) => [problem.path, problem])).values()]
  if (unique.length > 0) return refuse(invalidInput(unique))
  return { ok: true, grants: grants.map(({ role, project }) => ({ role, projectId: project && idOf(project) })) }
}

/** The row that a command has written: a token, or a principal. */
interface Changed {
  readonly row?: TokenRow
  readonly principal?: PrincipalRow
}

/** The principal, or the token, that is new, changed or gone, and the project to which it is limited, if it is one. */
function writtenOf({ row, principal = row?.principal }: Changed): Partial<AuditTarget> {
  const [projectId, ...others] = new Set(principal?.grants.map((grant) => grant.projectId))
  const target = principal?.administrator || others.length > 0 ? null : (projectId ?? null)
  const { id: objectId, name: objectName } = row ?? principal ?? { id: null, name: null }
  return { objectId, objectName, projectId: target, projectName: null }
}

const subjectOf = (principalId: string): string => `The principal ${principalId}`
/** New ones wait only for the projects of their grants, and for a request with the same key. */
const subjectOfNew = ({ grants }: Pick<NamedPrincipal, 'grants'>, { idempotencyKey }: Keyed): string => {
  const projects = [...new Set(grants.flatMap(({ project }) => project ?? []))].sort().join(', ')
  const what = projects === '' ? 'A new principal' : `A new principal of ${projects}`
  return idempotencyKey ? `${what} with the key ${idempotencyKey}` : what
}

/** Writes once, however often the request is sent with its key. */
const once = <T extends Changed, R extends Refusal, Again extends Refusal>(
  parts: Parts,
  { subject, ...request }: KeyedRequest & { readonly subject: string },
  work: (client: Client) => Promise<Outcome<T, R>>,
  repeat: (client: Client) => Repeat<T, Again>,
): Promise<Outcome<T, R | Again | Invalid>> =>
  write(parts, subject, (client) => {
    const scope = { client, projectId: null, now: parts.system.now() }
    return repeatable(scope, parts.viewer, { ...request, ...repeat(client) }, () => work(client))
  })

/** A refusal writes nothing; after a write this process reads rights again. */
async function write<T extends Changed, R extends Refusal>(
  { records, tokens, viewer }: Pick<Parts, 'records' | 'tokens' | 'viewer'>,
  subject: string,
  work: (client: Client) => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R>> {
  const outcome = await records.inRecord(subject, async (client) => {
    const done = await work(client)
    if (done.ok && viewer.call) await recordDoneIn(client, viewer.call, writtenOf(done))
    return done
  })
  if (outcome.ok) tokens.forget()
  return outcome
}
