import { verifyChain } from '../../../src/chain-hash.ts'
import type { Phase } from '../../../src/core/vocabulary.ts'
import { type AcceptedMutation, accepted, type Evidence, mayBeLost, type UserMutation } from '../evidence.ts'
import { by, includes, isEqual, isFinal, moves, objectsOf, type Promised, tell } from './reading.ts'

/** Promises to users: their mutations, rights, secrets and data. */

const of = (one: { readonly kind: string; readonly name: string; readonly id: string | null }): string =>
  `${one.kind} ${one.name} (${one.id})`

/** How each mutation shows in the log, once it was accepted. Others show in tables. */
interface Logged {
  readonly to: readonly Phase[]
  /** The object itself moves, or any object in its tree. */
  readonly of: 'object' | 'tree'
  /** Each one shows by itself: there is no second one before the first has ended. */
  readonly each?: true
  /** It shows as the creation, in a machine that does not begin with PENDING. */
  readonly isBirth?: true
}
const LOGGED: Readonly<Record<string, Logged>> = {
  createInstallation: { to: ['PENDING'], of: 'object' },
  createEvent: { to: ['PENDING'], of: 'object' },
  createTask: { to: ['PENDING'], of: 'object' },
  createClusterInst: { to: ['CREATE_REQUESTED'], of: 'object' },
  updateClusterInst: { to: ['UPDATE_REQUESTED'], of: 'object', each: true },
  deleteClusterInst: { to: ['DELETE_PREPARE'], of: 'object', each: true },
  cancelTask: { to: ['ABORTING', 'ABORTED'], of: 'object' },
  cancelEvent: { to: ['CANCELED', 'ABORTED'], of: 'tree' },
  cancelInstallation: { to: ['ABORTED', 'DELETE_FAILED'], of: 'object' },
  deleteEvent: { to: ['GONE'], of: 'object' },
  deleteInstallation: { to: ['GONE', 'DELETE_FAILED'], of: 'object' },
  createSchedule: { to: ['ACTIVE'], of: 'object', isBirth: true },
  pauseSchedule: { to: ['PAUSED'], of: 'object', each: true },
  deleteSchedule: { to: ['GONE'], of: 'object' },
}
export const kept: Promised = (evidence) => {
  const sure = accepted(evidence).filter(
    ({ mutation, jobId }) => mutation in LOGGED && (mutation !== 'cancelInstallation' || jobId !== null),
  )
  const ofObject = Map.groupBy(moves(evidence), ({ objectId }) => objectId)
  const ofTree = Map.groupBy(moves(evidence), ({ rootId }) => rootId)
  const groups = Map.groupBy(sure, ({ mutation, id }) => `${mutation} ${id}`)
  return [...groups.values()].flatMap((all) => {
    const [one] = all
    const logged = LOGGED[one?.mutation ?? '']
    if (!one || !logged) return []
    const changes = ((logged.of === 'tree' ? ofTree : ofObject).get(one.id ?? '') ?? []).filter(
      ({ to, jobId, from }) =>
        logged.to.includes(to) &&
        (from === null) === (to === 'PENDING' || logged.isBirth === true) &&
        // Another job may end like this, too.
        (one.mutation !== 'cancelInstallation' || all.some((other) => other.jobId === jobId)),
    )
    const wanted = logged.each ? all.length : 1
    return changes.length >= wanted ? [] : [`${one.mutation} of ${of(one)} was accepted, and is not in the log`]
  })
}

/** A mutation that is sent again with its key is one mutation. Names of roots say which they are. */
export const once: Promised = (evidence) => {
  const seen = new Map<string, string>()
  const keyed = evidence.mutations.filter(({ key }) => key !== null)
  const names = new Set(keyed.map(({ name }) => name))
  const twice = moves(evidence).flatMap((change) => {
    const { from, objectId, rootId, kind, name } = change
    if (from !== null || objectId !== rootId || !names.has(name)) return []
    const first = seen.get(`${kind} ${name}`)
    seen.set(`${kind} ${name}`, objectId)
    return first === undefined ? [] : [`${tell(change)} was created twice`]
  })
  const keys = new Map(evidence.tables.idempotencyKey.map((row) => [`${row.mutation} ${row.key}`, row.objectId]))
  const answers = accepted(evidence).flatMap((one) => {
    if (one.key === null) return []
    const id = keys.get(`${one.mutation} ${one.key}`)
    return id === one.id ? [] : [`${one.key} was answered with ${of(one)}, and is the key of ${id}`]
  })
  const creations = evidence.tables.idempotencyKey.filter(({ mutation }) => mutation.startsWith('create'))
  const uses = Map.groupBy(creations, ({ objectId }) => objectId)
  const shared = [...uses].filter(([, rows]) => rows.length > 1).map(([id]) => `${id} was created with several keys`)
  return [...twice, ...answers, ...shared]
}

/** An accepted spec is that of its generation, which is the present one or one of before. */
export const specs: Promised = (evidence) => {
  const objects = objectsOf(evidence)
  const stored = new Map<string, unknown>()
  for (const { objectId, spec } of evidence.tables.objectSpec)
    stored.set(`${objectId} ${objects.get(objectId)?.generation}`, spec)
  for (const { objectId, generation, spec } of evidence.tables.specGeneration)
    stored.set(`${objectId} ${generation}`, spec)
  return accepted(evidence).flatMap((one) => {
    const { id, generation, value, mutation } = one
    const object = objects.get(id ?? '')
    if (!object || value === null || generation === null || mutation.startsWith('delete')) return []
    if (object.generation < generation)
      return [`${of(one)} is of generation ${object.generation}, and was ${generation}`]
    const spec = stored.get(`${id} ${generation}`)
    // Instances keep no specs of before.
    if (spec === undefined) return one.kind === 'CLUSTER_INST' ? [] : [`${of(one)} has lost the spec of ${generation}`]
    return includes(spec, value) ? [] : [`generation ${generation} of ${of(one)} has another spec than was accepted`]
  })
}

/** Mutations that change nothing that is in the log name what they change. */
const targetOf = ({ id, name, kind }: Pick<UserMutation, 'id' | 'name' | 'kind'>): string =>
  kind === 'SECRET' || kind === 'DATA_OBJECT' ? name : (id ?? '')
export const audited: Promised = (evidence) => {
  const { auditEvent, auditAnchor } = evidence.tables
  const events = auditEvent.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))
  const [anchor] = auditAnchor
  const chained = events.flatMap(({ sequence, hash, ...event }) =>
    sequence === null || hash === null ? [] : [{ ...event, sequence, hash: Buffer.from(hash) }],
  )
  const from = { sequence: anchor?.sequence ?? 0, hash: Buffer.from(anchor?.hash ?? []) }
  const end = verifyChain(from, chained as Parameters<typeof verifyChain>[1])
  const done = Map.groupBy(
    auditEvent.filter(({ outcome }) => outcome === 'DONE'),
    (event) => `${event.operation} ${event.objectId ?? event.objectName}`,
  )
  const groups = Map.groupBy(accepted(evidence), (one) => `${one.mutation} ${targetOf(one)}`)
  const missing = [...groups].flatMap(([what, all]) => {
    const count = new Set(all.map((one) => one.key ?? one)).size
    const noted = (done.get(what) ?? []).length
    return noted >= count ? [] : [`${what} was accepted ${count} times, and is ${noted} times in the audit`]
  })
  return [
    ...('problem' in end ? [`the audit is ${end.problem} at ${end.sequence}`] : []),
    ...events
      .filter(({ at, sequence }) => sequence === null && evidence.databaseNow.getTime() - at.getTime() > LATE_MS)
      .map(({ id }) => `the event ${id} of the audit has no place`),
    ...missing,
    ...invented(evidence, done),
  ]
}
/** Mutations of users alone: the run itself creates tokens. */
const OF_USERS = new Set([...Object.keys(LOGGED), 'updateInstallation', 'updatePrincipal', 'revokeToken', 'setSecret'])
/** The audit has no mutation that was refused, or that nobody asked for. */
function invented(
  { mutations }: Evidence,
  done: ReadonlyMap<string, readonly { readonly operation: string; readonly objectId: string | null }[]>,
): readonly string[] {
  const asked = Map.groupBy(mutations, (one) => `${one.mutation} ${targetOf(one)}`)
  // Without an answer nobody knows the id.
  const unanswered = new Set(
    mutations.filter(({ id, answeredMs }) => id === null && answeredMs === null).map((one) => one.mutation),
  )
  return [...done].flatMap(([what, events]) => {
    const operation = events[0]?.operation ?? ''
    if (!OF_USERS.has(operation) || events.length <= (asked.get(what) ?? []).length) return []
    return unanswered.has(operation) && operation.startsWith('create')
      ? []
      : [`${what} is ${events.length} times in the audit`]
  })
}

/**
 * The possible values of something that was set again and again: that of the last success, or one whose fate is not
 * known. A request without an answer may be carried out long after it.
 */
export function possible(evidence: Evidence, settings: readonly UserMutation[]): readonly unknown[] {
  let values: unknown[] = []
  const unanswered: unknown[] = []
  for (const one of settings.toSorted((a, b) => a.askedMs - b.askedMs)) {
    if (one.answeredMs === null) unanswered.push(one.value)
    else if (mayBeLost(evidence, one.askedMs, one.answeredMs)) values.push(one.value)
    else values = [one.value]
  }
  return [...values, ...unanswered]
}

/** Another gateway may accept a token for two seconds after its revocation; the rest is for slow clocks. */
export const CACHED_MS = 2_000 + 1_000
export const rights: Promised = (evidence) => {
  const { tables, mutations, probes } = evidence
  const tokens = new Map(tables.token.map((token) => [token.id, token]))
  const revoked = new Map<string, AcceptedMutation>()
  for (const one of accepted(evidence)) if (one.mutation === 'revokeToken') revoked.set(one.id ?? '', one)
  const perhaps = new Set(mutations.filter(({ mutation }) => mutation === 'revokeToken').map(({ id }) => id))
  const created = accepted(evidence).filter(({ mutation }) => mutation === 'createToken')
  const lost = created.flatMap((one) => {
    const token = tokens.get(one.id ?? '')
    if (!token) return [`${of(one)} was created, and is lost`]
    if (token.revokedAt === null && revoked.has(token.id)) return [`${of(one)} was revoked, and is valid`]
    return token.revokedAt !== null && !perhaps.has(token.id) ? [`${of(one)} is revoked, and nobody did it`] : []
  })
  const known = new Set(created.map(({ id }) => id))
  const used = probes.flatMap(({ tokenId, askedMs, isValid }) => {
    const end = revoked.get(tokenId)
    if (isValid) return end && askedMs > end.answeredMs + CACHED_MS ? [`${tokenId} was revoked, and is taken`] : []
    return known.has(tokenId) && !perhaps.has(tokenId) ? [`${tokenId} is valid, and was refused`] : []
  })
  const principals = new Set(tables.principal.map(({ id }) => id))
  const ofNobody = tables.token
    .filter(({ principalId }) => !principals.has(principalId))
    .map(({ name, principalId }) => `the token ${name} is of ${principalId}, which is lost`)
  const ofUsers = new Set(tables.token.filter(({ id }) => known.has(id)).map(({ principalId }) => principalId))
  const raised = tables.principal
    .filter(({ id, administrator, deletedAt }) => ofUsers.has(id) && (administrator || deletedAt !== null))
    .map(({ name }) => `${name} has become an administrator, or is deleted`)
  return [...lost, ...used, ...granted(evidence), ...ofNobody, ...raised]
}
const granted: Promised = (evidence) => {
  const grants = by(evidence, 'principalGrant', 'principalId')
  const changes = Map.groupBy(
    evidence.mutations.filter(({ mutation }) => mutation === 'updatePrincipal'),
    ({ id }) => id,
  )
  const made = new Set(
    accepted(evidence)
      .filter(({ mutation }) => mutation === 'createToken')
      .map(({ id }) => id),
  )
  return evidence.tables.token.flatMap(({ id, principalId, name }) => {
    if (!made.has(id)) return []
    const roles = (grants.get(principalId) ?? []).toSorted((a, b) => a.ordinal - b.ordinal).map(({ role }) => role)
    const given = changes.get(principalId) ?? []
    const first = given.some((one) => one.answeredMs !== null && !mayBeLost(evidence, one.askedMs, one.answeredMs))
    const values = [...possible(evidence, given), ...(first ? [] : [['VIEWER']])]
    return values.some((value) => isEqual(roles, value)) ? [] : [`${name} has the roles ${roles}, and was given others`]
  })
}

/** Secrets and data are what was last set, also for who has got a copy. */
export const settings: Promised = (evidence) => {
  const { mutations } = evidence
  const ofSecret = mutations.filter(({ mutation }) => mutation === 'setSecret')
  const secret = evidence.secrets
    .filter(({ value }) => !possible(evidence, ofSecret).includes(value))
    .map(({ name, value }) => `${name} is ${value}, which was not set last`)
  const lost = accepted(evidence).some(({ mutation }) => mutation === 'setSecret') && evidence.secrets.length === 0
  const ofData = mutations.filter(({ mutation }) => mutation === 'setDataObject')
  const data = evidence.tables.dataObject
    .filter(({ exporterId, value }) => exporterId === null && !possible(evidence, ofData).includes(value))
    .map(({ name, value }) => `${name} is ${JSON.stringify(value)}, which was not set last`)
  const noData =
    accepted(evidence).some(({ mutation }) => mutation === 'setDataObject') &&
    !evidence.tables.dataObject.some(({ exporterId }) => exporterId === null)
  return [
    ...secret,
    ...(lost ? ['the secret is lost'] : []),
    ...data,
    ...(noData ? ['the data is lost'] : []),
    ...copied(evidence, ofSecret),
  ]
}
/** A worker gets the secret as it was when its event was created, or later. */
function copied(evidence: Evidence, ofSecret: readonly UserMutation[]): readonly string[] {
  const asked = new Map(
    evidence.mutations.filter(({ mutation }) => mutation === 'createEvent').map((one) => [one.id, one]),
  )
  const rootOf = new Map(evidence.log.map(({ objectId, rootId }) => [objectId, rootId]))
  const secrets = by(evidence, 'eventSecret', 'eventId')
  const objects = objectsOf(evidence)
  const opened = new Map(evidence.copies.map(({ eventId, value }) => [eventId, value]))
  const unanswered = ofSecret.filter(({ answeredMs }) => answeredMs === null)
  const sure = accepted(evidence).filter(({ mutation }) => mutation === 'setSecret')
  const setAt = new Map(ofSecret.map((one) => [one.value, one]))
  return evidence.starts.flatMap(({ id, secret }) => {
    const rootId = rootOf.get(id) ?? ''
    const event = asked.get(rootId)
    const missing =
      secret !== '' && isFinal('EVENT', objects.get(rootId)?.phase ?? 'PENDING') && !secrets.has(rootId)
        ? [`${rootId} has lost its secret`]
        : []
    if (missing.length === 0 && (opened.get(rootId) ?? secret) !== secret)
      return [`${id} got the secret ${secret}, and its event has ${opened.get(rootId)}`]
    // The first attempt counts: a later one finds what it made. Only one is known here.
    const before = event && sure.filter(({ answeredMs }) => answeredMs < firstAsked(evidence, event)).at(-1)
    const got = setAt.get(secret)
    if (!before || unanswered.some(({ value }) => value === secret)) return missing
    const isOld = got === undefined || got.askedMs < before.askedMs
    return isOld ? [...missing, `${id} got the secret ${secret}, and ${before.value} had been set`] : missing
  })
}
const firstAsked = ({ mutations }: Evidence, { key }: UserMutation): number =>
  Math.min(
    ...mutations.filter((one) => one.key === key && one.mutation === 'createEvent').map(({ askedMs }) => askedMs),
  )

/** Nothing waits to be done that nobody does. */
const LATE_MS = 30_000
const NEVER = new Date(8.64e15)
export const punctual: Promised = ({ tables, databaseNow }) => {
  const late = new Date(databaseNow.getTime() - LATE_MS)
  const roots = new Set(tables.object.filter(({ id, rootId }) => id === rootId).map(({ id }) => id))
  const queued = new Map(tables.rootQueue.map(({ rootId, wakeAt }) => [rootId, wakeAt]))
  const deadlines = tables.work.filter(({ state }) => state !== 2)
  const due = [...tables.clock, ...deadlines].flatMap(({ objectId, rootId, dueAt }) =>
    dueAt ? [{ objectId, rootId, dueAt }] : [],
  )
  return [
    ...tables.wake.map(({ rootId }) => `a request waits for ${rootId}`),
    ...tables.rootQueue
      .filter(({ wakeAt, failures, rootId }) => wakeAt < late || failures > 0 || !roots.has(rootId))
      .map(
        ({ rootId, wakeAt, failures }) => `${rootId} was due at ${wakeAt.toISOString()}, after ${failures} failures`,
      ),
    ...due.filter(({ dueAt }) => dueAt < late).map(({ objectId }) => `the time of ${objectId} has passed`),
    ...due
      .filter(({ rootId, dueAt }) => !((queued.get(rootId) ?? NEVER) <= dueAt))
      .map(({ objectId }) => `nobody watches the time of ${objectId}`),
    ...tables.specSnapshot.map(({ objectId }) => `${objectId} keeps the spec of a job that has ended`),
  ]
}
