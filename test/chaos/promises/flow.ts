import type { Phase } from '../../../src/core/vocabulary.ts'
import {
  accepted,
  type Evidence,
  type FlowChange,
  type KeyBounds,
  type LimitBounds,
  type LoggedChange,
  mayBeLost,
  type OverrideChange,
  type TicketChange,
  type UserMutation,
} from '../evidence.ts'
import { GATE, GATE_PICKUP_MS, LIMITS } from '../load.ts'
import { isEqual, isRequest, moves, objectsOf, type Promised, tell } from './reading.ts'
import { CACHED_MS, possible } from './users.ts'

/** Promises of what holds work back: limits, and gates. */

const isTicket = (one: FlowChange): one is TicketChange => /^(ASK|GRANT|RELEASE)$/.test(one.did)
const isOverride = (one: FlowChange): one is OverrideChange => /^OVERRIDE/.test(one.did)
const idOf = ({ objectId, limitId, key }: TicketChange): string => `${objectId} ${limitId} ${key}`
const show = ({ kind, objectId, key, at }: TicketChange, limit: string): string =>
  `${kind} ${objectId}, with the key ${key} of ${limit}, at ${at.toISOString()}`
const namesOf = ({ tables }: Evidence): ReadonlyMap<string, string> =>
  new Map(tables.flowLimit.map(({ id, name }) => [id, name]))

/** The tickets of limits as they were after each change. */
class Tickets {
  readonly held = new Map<string, TicketChange>()
  readonly waiting = new Map<string, TicketChange>()
  /** Numbers of holders, by limit, and by limit and key; and of tickets with which objects wait. */
  readonly #counts = new Map<string, number>()
  /** Waiting tickets, by limit and kind, in the order of arrival. */
  readonly #lines = new Map<string, Set<TicketChange>>()
  readonly #grants = new Map<string, TicketChange[]>()

  apply(one: TicketChange): void {
    const id = idOf(one)
    const asked = this.waiting.get(id)
    if (asked && this.waiting.delete(id)) this.#wait(asked, -1)
    const held = this.held.get(id)
    if (held && this.held.delete(id)) this.#hold(held, -1)
    if (one.did === 'ASK') {
      this.waiting.set(id, one)
      this.#wait(one, 1)
    }
    if (one.did !== 'GRANT') return
    this.held.set(id, one)
    this.#hold(one, 1)
    if (one.bounds && boundsOf(one.bounds, one.key).rateMs === null) return
    const line = `${one.limitId} ${one.key}`
    const grants = this.#grants.get(line) ?? []
    grants.push(one)
    this.#grants.set(line, grants)
  }
  #wait(one: TicketChange, by: 1 | -1): void {
    const line = this.line(one)
    if (by === 1) line.add(one)
    else line.delete(one)
    this.#count(one.objectId, by)
  }
  #hold({ limitId, key }: TicketChange, by: 1 | -1): void {
    this.#count(limitId, by)
    this.#count(`${limitId} ${key}`, by)
  }
  #count(what: string, by: 1 | -1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by)
  }
  line({ limitId, kind }: TicketChange): Set<TicketChange> {
    const line = this.#lines.get(`${limitId} ${kind}`) ?? new Set()
    this.#lines.set(`${limitId} ${kind}`, line)
    return line
  }
  asksForSeveral = ({ objectId }: TicketChange): boolean => (this.#counts.get(objectId) ?? 0) > 1

  /** Says which bounds so many more of the key would exceed at that time. */
  excess({ limitId, key }: TicketChange, { max, isPaused, ...bounds }: LimitBounds, at: Date, more: number): string[] {
    const { maxPerKey, rateCount, rateMs } = boundsOf(bounds, key)
    const begun = (this.#grants.get(`${limitId} ${key}`) ?? []).filter((one) => {
      // A longer time brings back no start that a shorter one has forgotten.
      const ms = Math.min(rateMs ?? 0, (one.bounds && boundsOf(one.bounds, key).rateMs) ?? 0)
      return one.at.getTime() > at.getTime() - ms
    }).length
    const over = (held: number, bound: number | null, what: string): string[] =>
      bound !== null && held + more > bound ? [`${held + more} of ${bound}${what}`] : []
    return [
      ...over(this.#counts.get(limitId) ?? 0, max, ''),
      ...over(this.#counts.get(`${limitId} ${key}`) ?? 0, maxPerKey, ' of the key'),
      ...over(begun, rateCount, ` in ${rateMs} ms`),
      ...(isPaused ? ['a paused limit'] : []),
    ]
  }
}
const boundsOf = ({ usual, overridden }: Pick<LimitBounds, 'usual' | 'overridden'>, key: string): KeyBounds =>
  overridden[key] ?? usual

/** No moment has more holders than a bound, no time more starts than a rate; in the end all of it is given back. */
export const bounded: Promised = (evidence) => {
  const { flowLimit, limitTicket, limitGrant } = evidence.tables
  const names = namesOf(evidence)
  const tickets = new Tickets()
  const changes = evidence.flow.filter(isTicket)
  const wrong = changes.flatMap((one) => {
    const limit = names.get(one.limitId)
    if (limit === undefined) return [`the limit of ${show(one, one.limitId)} is lost`]
    const before = { isHeld: tickets.held.has(idOf(one)), waits: tickets.waiting.has(idOf(one)) }
    tickets.apply(one)
    if (one.did === 'RELEASE') return before.isHeld || before.waits ? [] : [`${show(one, limit)} gives back nothing`]
    if (one.did === 'ASK') return before.isHeld || before.waits ? [`${show(one, limit)} asks twice`] : []
    if (!before.waits) return [`${show(one, limit)} was granted, and has not asked`]
    const excess = one.bounds ? tickets.excess(one, one.bounds, one.at, 0) : ['what is not there']
    return excess.map((what) => `${show(one, limit)} was granted ${what}`)
  })
  const left = [...tickets.held.values(), ...tickets.waiting.values()].map(
    (one) => `${show(one, names.get(one.limitId) ?? '')} still holds it or waits`,
  )
  const rows = limitTicket.map(({ objectId }) => `${objectId} has a ticket in the end`)
  const rated = changes.flatMap((one) => {
    const { rateMs } = (one.bounds && boundsOf(one.bounds, one.key)) ?? { rateMs: null }
    return rateMs === null ? [] : [{ ...one, until: new Date(one.at.getTime() + rateMs) }]
  })
  const keyOf = (one: { objectId: string; limitId: string; key: string; at: Date; until: Date }): string =>
    [one.objectId, one.limitId, one.key, one.at.toISOString(), one.until.toISOString()].join(' ')
  const stored = new Set(limitGrant.map(keyOf))
  const noted = new Set(rated.map(keyOf))
  const edits = evidence.mutations.filter(({ mutation }) => mutation === 'updateLimit')
  const unset = flowLimit.flatMap(({ id, name, pause, ...settings }) => {
    const own = edits.filter((one) => one.id === id)
    const isSure = own.some((one) => one.answeredMs !== null && !mayBeLost(evidence, one.askedMs, one.answeredMs))
    const values = [...possible(evidence, own), ...(isSure ? [] : [LIMITS[name]?.bounds[0]])]
    const { max, maxPerKey, rateCount, rateMs, weights, strategy, debounceMs, isShared } = settings
    const found = { max, maxPerKey, rateCount, rateMs, weights, strategy, debounceMs, isShared }
    return [
      ...(values.some((value) => isEqual(settingsOf(value), found))
        ? []
        : [`${name} has bounds that were not set last`]),
      ...(pause === null ? [] : [`${name} is paused in the end`]),
    ]
  })
  return [
    ...wrong,
    ...left,
    ...rows,
    ...rated
      .filter((one) => one.until > evidence.databaseNow && !stored.has(keyOf(one)))
      .map((one) => `the rate of ${names.get(one.limitId)} forgets ${keyOf(one)}`),
    ...limitGrant.map(keyOf).flatMap((one) => (noted.has(one) ? [] : [`a rate counts ${one}, which was not granted`])),
    ...unset,
    ...without(evidence, names),
  ]
}
function settingsOf(value: unknown): object {
  const {
    max = null,
    maxPerKey = null,
    rate,
    weights = [],
    shared: isShared = false,
  } = (value ?? {}) as (typeof LIMITS)[string]['bounds'][number]
  const ofKeys = Object.fromEntries(weights.map(({ key, weight }) => [key, weight]))
  // No user of the run sets these.
  const unset = { strategy: 'QUEUE', debounceMs: null }
  const ofRate = { rateCount: rate?.count ?? null, rateMs: rate?.perMs ?? null }
  return { max, maxPerKey, ...ofRate, weights: ofKeys, isShared, ...unset }
}

/** An override is written late, while a process or Postgres stands still. */
const WRITTEN_MS = 60_000
/** A key has other bounds for as long as somebody has given it them, and each start is judged by them. */
export const overridden: Promised = (evidence) => {
  const names = namesOf(evidence)
  const asked = evidence.mutations.filter(({ mutation }) => mutation === 'overrideLimit')
  const all = evidence.flow.filter(isOverride)
  const written = all.filter(({ did }) => did === 'OVERRIDE')
  const tellOverride = ({ limitId, key, until }: OverrideChange): string =>
    `the override of ${key} of ${names.get(limitId)} until ${until.toISOString()}`
  const isOf = (one: OverrideChange, { id, value }: UserMutation): boolean => {
    const { key, ttlMs, ...bounds } = value as Overriding
    const leftMs = one.until.getTime() - one.at.getTime()
    const isSame = one.limitId === id && one.key === key && isEqual(one.bounds, keyBoundsOf(bounds))
    return isSame && leftMs <= ttlMs && leftMs > ttlMs - WRITTEN_MS
  }
  return [
    ...written
      .filter((one) => !asked.some((mutation) => isOf(one, mutation)))
      .map((one) => `nobody has asked for ${tellOverride(one)}, from ${one.at.toISOString()}`),
    ...accepted(evidence)
      .filter((mutation) => mutation.mutation === 'overrideLimit' && !written.some((one) => isOf(one, mutation)))
      .map(({ name, value }) => `the override ${JSON.stringify(value)} of ${name} was accepted, and is not there`),
    ...all
      .filter(({ did, at, until }) => did === 'OVERRIDE_ENDS' && at < until)
      .map((one) => `${tellOverride(one)} ends at ${one.at.toISOString()}`),
    ...judgedBy(evidence, names),
  ]
}
interface Overriding {
  readonly key: string
  readonly ttlMs: number
  readonly maxPerKey?: number
  readonly rate?: { readonly count: number; readonly perMs: number }
}
const keyBoundsOf = ({ maxPerKey, rate }: Omit<Overriding, 'key' | 'ttlMs'>): KeyBounds => ({
  maxPerKey: maxPerKey ?? null,
  rateCount: rate?.count ?? null,
  rateMs: rate?.perMs ?? null,
})

/** Each start sees overrides that are there, and one that was seen until it ends or another one follows. */
function judgedBy(evidence: Evidence, names: ReadonlyMap<string, string>): readonly string[] {
  const last = new Map<string, OverrideChange[]>()
  const seen = new Map<string, OverrideChange>()
  return evidence.flow.flatMap((one) => {
    if (isOverride(one)) {
      const id = `${one.limitId} ${one.key}`
      // It is committed later, so a start may still see the one before.
      seen.delete(id)
      if (one.did === 'OVERRIDE') last.set(id, [...(last.get(id) ?? []), one])
      return []
    }
    if (!isTicket(one) || !one.bounds) return []
    const { limitId, at, bounds } = one
    const what = `${show(one, names.get(limitId) ?? '')} was granted`
    const unknown = Object.entries(bounds.overridden).flatMap(([key, found]) => {
      const id = `${limitId} ${key}`
      const override = last.get(id)?.findLast((each) => each.until > at && isEqual(boundsBy(each, bounds), found))
      if (override && override === last.get(id)?.at(-1)) seen.set(id, override)
      return override ? [] : [`${what} by an override of ${key} that is not there`]
    })
    const missed = [...seen.values()]
      .filter((each) => each.limitId === limitId && each.until > at && !bounds.overridden[each.key])
      .map(({ key }) => `${what} without the override of ${key}`)
    return [...unknown, ...missed]
  })
}
const boundsBy = ({ bounds: own }: OverrideChange, { usual }: LimitBounds): KeyBounds => ({
  maxPerKey: own.maxPerKey ?? usual.maxPerKey,
  rateCount: own.rateCount ?? usual.rateCount,
  rateMs: own.rateMs ?? usual.rateMs,
})

/** An object that is at work by the log has held what it asks for, from its start to its end. */
const AT_WORK: readonly Phase[] = ['STARTING', 'RUNNING', 'UNKNOWN', 'PROGRESSING']
function without(evidence: Evidence, names: ReadonlyMap<string, string>): readonly string[] {
  const specs = new Map(evidence.tables.objectSpec.map(({ objectId, spec }) => [objectId, spec]))
  const holds = new Map<string, { readonly from: Date; to: Date | null }[]>()
  const tickets = new Tickets()
  for (const one of evidence.flow.filter(isTicket)) {
    const all = holds.get(`${one.objectId} ${names.get(one.limitId)}`) ?? []
    holds.set(`${one.objectId} ${names.get(one.limitId)}`, all)
    const last = all.at(-1)
    if (one.did === 'RELEASE' && last && tickets.held.has(idOf(one))) last.to = one.at
    if (one.did === 'GRANT') all.push({ from: one.at, to: null })
    tickets.apply(one)
  }
  const running = new Map<string, Date>()
  return moves(evidence).flatMap((change) => {
    const { objectId, kind, to, at } = change
    if (kind !== 'WORKER' && kind !== 'DEPLOY_ITEM') return []
    const since = running.get(objectId)
    if (AT_WORK.includes(to)) {
      if (!since) running.set(objectId, at)
      return []
    }
    running.delete(objectId)
    const { limits = [] } = (specs.get(objectId) ?? {}) as { readonly limits?: readonly { readonly limit: string }[] }
    if (!since) return []
    return limits
      .filter(({ limit }) => {
        // That of another project has its project before its name.
        const all = holds.get(`${objectId} ${limit.split('/').at(-1)}`) ?? []
        return !all.some((one) => one.from <= since && (one.to === null || one.to >= at))
      })
      .map(({ limit }) => `${tell(change)} was at work from ${since.toISOString()} without ${limit}`)
  })
}

/** After the end of a pause, other trees may have seen it still. */
const RESUMED_MS = 2_000
/**
 * Nobody starts who takes the room of another one that comes before it: of a higher priority, older with its key, or of a key that
 * has not had its turn. Two objects that ask for several limits may come before each other.
 */
export const lined: Promised = (evidence) => {
  const names = namesOf(evidence)
  const rootOf = new Map(evidence.log.map(({ objectId, rootId }) => [objectId, rootId]))
  const tickets = new Tickets()
  const stands = new Set<string>()
  const resumed = new Map<string, Date>()
  const started = starts(evidence.flow)
  /** The turns that keys have had before one that waits at the head of its key, and their weights. */
  const turns = new Map<TicketChange, Map<string, { count: number; weight: number }>>()
  return evidence.flow.flatMap((one, n) => {
    if (!isTicket(one)) {
      if (one.did === 'PAUSE') stands.add(one.rootId)
      else if (one.did === 'RESUME' && stands.delete(one.rootId)) resumed.set(one.rootId, one.at)
      return []
    }
    const { bounds, objectId, limitId } = one
    const isOfSeveral = isMany(evidence.flow, n)
    const before = bounds && !isOfSeveral ? comeBefore(one, tickets.line(one)) : []
    const mightStart = before.filter(({ other }) => {
      if (other.objectId === objectId || !started.has(other) || tickets.asksForSeveral(other)) return false
      const rootId = rootOf.get(other.objectId) ?? ''
      const since = resumed.get(rootId)
      if (stands.has(rootId) || (since && one.at.getTime() - since.getTime() < RESUMED_MS)) return false
      return bounds !== null && tickets.excess(other, bounds, one.at, 1).length === 0
    })
    tickets.apply(one)
    return mightStart.flatMap(({ other, why }) => {
      // Otherwise the others start as well.
      if (!bounds || tickets.excess(other, bounds, one.at, 1).length === 0) return []
      const what = `${show(one, names.get(limitId) ?? '')} was granted before ${show(other, 'the same limit')}`
      if (why !== null) return [`${what}, which ${why}`]
      const keys = turns.get(other) ?? new Map<string, { count: number; weight: number }>()
      const had = keys.get(one.key) ?? { count: 0, weight: 1 }
      const turn = { count: had.count + 1, weight: Math.max(had.weight, bounds.weights[one.key] ?? 1) }
      turns.set(other, keys.set(one.key, turn))
      return turn.count > turn.weight ? [`${what}, which has waited for ${turn.count} turns of the key`] : []
    })
  })
}
interface Before {
  readonly other: TicketChange
  /** Null: it is the first of its key, and has its turn after one of another key. */
  readonly why: string | null
}
/** The tickets of the line that start first, if they can. */
function comeBefore(one: TicketChange, line: Iterable<TicketChange>): readonly Before[] {
  const heads = new Set<string>()
  let isElder = true
  return [...line].flatMap((other): Before[] => {
    if (idOf(other) === idOf(one)) isElder = false
    if (other.priority > one.priority) return [{ other, why: 'has a higher priority' }]
    if (other.priority < one.priority) return []
    if (other.key === one.key) return isElder ? [{ other, why: 'is older' }] : []
    if (heads.has(other.key)) return []
    heads.add(other.key)
    return [{ other, why: null }]
  })
}
/** The tickets that were granted afterwards. Others have left the line, whatever they waited for. */
function starts(flow: readonly FlowChange[]): ReadonlySet<TicketChange> {
  const asked = new Map<string, TicketChange>()
  return new Set(
    flow.filter(isTicket).flatMap((one) => {
      if (one.did === 'ASK') asked.set(idOf(one), one)
      return one.did === 'GRANT' ? (asked.get(idOf(one)) ?? []) : []
    }),
  )
}
/** True if the object of the grant got other limits with it. */
function isMany(flow: readonly FlowChange[], n: number): boolean {
  const own = flow[n]
  return [flow[n - 1], flow[n + 1]].some(
    (one) => one && own && isTicket(one) && isTicket(own) && one.did === 'GRANT' && one.objectId === own.objectId,
  )
}

interface Opener {
  readonly approval?: { readonly count: number }
  readonly until?: string
  readonly http?: { readonly url: string }
}
const TIME = 'Its time has come.'
/** A gate opens once for a job: by as many people as it asks for, who may, by a signal, by an answer, or at its time. */
export const opened: Promised = (evidence) => {
  const configs = new Map(
    evidence.mutations
      .filter(({ mutation }) => mutation === 'createInstallation')
      .map(({ id, value }) => {
        const { deployItems = [] } = (value ?? {}) as { deployItems?: readonly { name: string; config?: Opener }[] }
        return [id, deployItems.find(({ name }) => name === GATE)?.config]
      }),
  )
  const gates = Map.groupBy(
    evidence.log.filter(({ kind, name, rejected }) => kind === 'DEPLOY_ITEM' && name === GATE && !rejected),
    ({ objectId }) => objectId,
  )
  const exports = new Map(evidence.tables.deployItem.map((row) => [row.objectId, row.exports]))
  const objects = objectsOf(evidence)
  const sent = (mutation: string, id: string, by: string | null) =>
    evidence.mutations.filter((one) => one.mutation === mutation && one.id === id && one.by === by)
  const wrong = [...gates].flatMap(([id, changes]) => {
    const config = configs.get(changes[0]?.rootId ?? '')
    const openings = changes.filter((one) => one.to === 'SUCCEEDED' && !isRequest(one))
    const jobs = openings.map(({ jobId }) => jobId)
    const last = openings.at(-1)
    return [
      ...jobs.filter((one, i) => jobs.indexOf(one) !== i).map((job) => `the gate ${id} has opened twice in ${job}`),
      ...openings.flatMap((one) => {
        if (!config) return [`nobody knows the gate ${id}`]
        if (config.approval) return byPeople(evidence, one, config.approval.count)
        if (config.until) {
          const isEarly = one.message !== TIME || one.at < new Date(config.until)
          return isEarly ? [`the gate ${id} opened at ${one.at.toISOString()}, before ${config.until}`] : []
        }
        if (config.http) {
          const tree = config.http.url.split('/').at(-1) ?? ''
          return evidence.answered.has(tree) ? [] : [`the gate ${id} opened, and its address has not answered that`]
        }
        return sent('signal', id, one.by).length > 0 ? [] : [`${one.by} has sent no signal to the gate ${id}`]
      }),
      ...changes
        .filter((one) => one.to === 'FAILED' && !isRequest(one))
        .flatMap((one) => {
          if (one.by !== null) return sent('reject', id, one.by).length > 0 ? [] : [`${one.by} has not rejected ${id}`]
          const closed = changes.findLast(
            (other) => other.to === 'INIT' && !isRequest(other) && other.sequence < one.sequence,
          )
          const waitedMs = one.at.getTime() - (closed?.at.getTime() ?? 0)
          return waitedMs >= GATE_PICKUP_MS ? [] : [`the gate ${id} has expired after ${waitedMs} ms`]
        }),
      ...(last && objects.get(id)?.phase === 'SUCCEEDED' && !config?.approval && !config?.until && !config?.http
        ? sent('signal', id, last.by).some(({ value }) => isEqual(value, exports.get(id)))
          ? []
          : [`the gate ${id} has other exports than its signal`]
        : []),
    ]
  })
  return [...wrong, ...counted(evidence, gates)]
}
function byPeople(evidence: Evidence, { objectId, message, by }: LoggedChange, count: number): readonly string[] {
  const names = /^Approved by (.+)\.$/.exec(message ?? '')?.[1]?.split(', ') ?? []
  const what = `the gate ${objectId} was opened by ${names.join(', ')}`
  const asked = (name: string | null) =>
    evidence.mutations.filter((one) => one.mutation === 'approve' && one.id === objectId && one.by === name)
  const own = asked(by)
  const fromMs = Math.min(...own.map(({ askedMs }) => askedMs))
  const toMs = Math.min(...own.map(({ answeredMs }) => answeredMs ?? Number.POSITIVE_INFINITY))
  return [
    ...(new Set(names).size === count && names.length === count ? [] : [`${what}, and asks for ${count}`]),
    ...(names.at(-1) === by ? [] : [`${what}, and last by ${by}`]),
    ...names.filter((name) => asked(name).length === 0).map((name) => `${what}, and ${name} has not approved`),
    ...names
      .filter((name) => hadNoRight(evidence, name, fromMs - (name === by ? CACHED_MS : 0), toMs))
      .map((name) => `${what}, and ${name} had no right to it`),
  ]
}
/** True if somebody surely had no right at any moment of that time: it had been taken away, and nobody had begun to give it back. */
function hadNoRight(evidence: Evidence, name: string, fromMs: number, toMs: number): boolean {
  const changes = evidence.mutations.filter((one) => one.mutation === 'updatePrincipal' && one.name === name)
  const isBefore = (answeredMs: number | null) => answeredMs !== null && answeredMs < fromMs
  const taken = changes
    .filter(({ value, answeredMs }) => (value as string[]).length === 0 && isBefore(answeredMs))
    .at(-1)
  if (!taken || mayBeLost(evidence, taken.askedMs, taken.answeredMs ?? taken.askedMs)) return false
  return !changes.some(
    (one) =>
      (one.value as string[]).length > 0 &&
      one.askedMs < toMs &&
      // One without an answer may be carried out later.
      (one.askedMs > taken.askedMs || one.answeredMs === null || one.answeredMs > taken.askedMs),
  )
}
/** An accepted approval is in the log, once for each time that somebody has asked anew; the author's is never accepted. */
function counted(evidence: Evidence, gates: ReadonlyMap<string, readonly LoggedChange[]>): readonly string[] {
  const all = evidence.mutations.filter(({ mutation }) => mutation === 'approve')
  const sure: ReadonlySet<UserMutation> = new Set(accepted(evidence))
  return [...Map.groupBy(all, ({ id, by }) => `${id} ${by}`)].flatMap(([what, own]) => {
    const { id, by } = own[0] ?? { id: null, by: null }
    const isTaken = own.some((one) => sure.has(one))
    if (by === null) return isTaken ? [`the author was allowed to approve ${id}`] : []
    const noted = (gates.get(id ?? '') ?? []).filter(
      (one) => one.by === by && (one.reason === 'approved' || (one.to === 'SUCCEEDED' && !isRequest(one))),
    )
    return [
      ...(isTaken && noted.length === 0 ? [`the approval ${what} was accepted, and is not in the log`] : []),
      ...(noted.length > new Set(own.map(({ key }) => key)).size
        ? [`the approval ${what} counts ${noted.length} times`]
        : []),
    ]
  })
}
