import type { RetryPolicy } from '../../../src/core/retry.ts'
import { BY_TIME, type SkipReason } from '../../../src/families/automation/rules/plan-firings.ts'
import type { ScheduleSpec } from '../../../src/families/automation/rules/spec.ts'
import type { RuleSpec } from '../../../src/families/notifications/rules/spec.ts'
import { KEPT } from '../../../src/families/notifications/store/notifications.ts'
import { accepted, type Evidence, type LoggedChange, mayBeLost, mayBeUnknown, type Row } from '../evidence.ts'
import { RETRY, SOURCE } from '../load.ts'
import { by, moves, objectsOf, type Promised } from './reading.ts'

/** The ledger: what happens by itself is counted, from the log, the tables, and what senders and receivers wrote down. */

const time = (at: Date | number): string => new Date(at).toISOString()
const specsOf = <T>({ tables }: Evidence): ReadonlyMap<string, T> =>
  new Map(tables.objectSpec.map(({ objectId, spec }) => [objectId, spec as T]))
const eventsOf = ({ tables }: Evidence, source: string): ReadonlyMap<string, string> =>
  new Map(tables.event.filter((one) => one.source === source).map((one) => [one.objectId, one.payload ?? '']))
const twice = (all: readonly string[]): readonly string[] => all.filter((one, i) => all.indexOf(one) !== i)

/** Each time of a schedule, from its creation to its last pause, has fired once or is named as skipped. */
export const fired: Promised = (evidence) => {
  const specs = specsOf<ScheduleSpec>(evidence)
  const objects = objectsOf(evidence)
  const firings = by(evidence, 'firing', 'scheduleId')
  const known = new Set(evidence.tables.schedule.map(({ objectId }) => objectId))
  const lost = evidence.tables.object
    .filter(({ kind, id }) => kind === 'SCHEDULE' && !known.has(id))
    .map(({ name }) => `${name} has lost its times`)
  const wrong = evidence.tables.schedule.flatMap(({ objectId, due, lastDue, firedCount }) => {
    const { every, overlap, catchUp, graceMs = 0 } = specs.get(objectId) ?? {}
    const { createdAt, name = '', phase } = objects.get(objectId) ?? {}
    if (!every || !createdAt || !overlap || !catchUp) return [`${objectId} is a schedule without its spec`]
    const own = (firings.get(objectId) ?? []).toSorted((a, b) => a.due.getTime() - b.due.getTime())
    const byTime = own.filter(({ cause }) => cause === BY_TIME)
    let next = firstAfter(every, createdAt)
    const problems = [...unpaused(evidence, objectId, byTime)]
    for (const firing of byTime) {
      const from = firing.due.getTime()
      if (from > next) problems.push(`${name} misses ${time(next)} to ${time(from - every.ms)}`)
      if (from < next) problems.push(`${name} has ${time(from)} twice`)
      const last = firing.lastDue?.getTime() ?? from
      next = last + every.ms
      const count = (last - from) / every.ms + 1
      if (count !== firing.count) problems.push(`${name} counts ${firing.count} times of ${count} from ${time(from)}`)
      if (firing.outcome !== 'SKIPPED' && count !== 1) problems.push(`${name} fires once for ${count} times`)
      if (firing.at.getTime() < last - CLOCKS_MS) problems.push(`${name} has ${time(last)} at ${time(firing.at)}`)
      const spec = { overlap, catchUp, graceMs, ms: every.ms }
      if (firing.outcome === 'SKIPPED' && !mayBeSkipped(firing, own, spec))
        problems.push(`${name} skips ${time(from)} for ${firing.reason}, and is ${overlap} and ${catchUp}`)
    }
    // A pause decides about each time before it.
    const paused = evidence.log.findLast(
      (one) => one.objectId === objectId && one.to === 'PAUSED' && one.from !== 'PAUSED',
    )
    if (paused && next <= paused.at.getTime()) problems.push(`${name} misses ${time(next)}, before its pause`)
    if (phase !== 'PAUSED' || due !== null) problems.push(`${name} is ${phase}, and due at ${due && time(due)}`)
    if (!lastDue || lastDue.getTime() < next - every.ms) problems.push(`${name} forgets its last time`)
    const counted = byTime.filter(({ outcome, reason }) => outcome !== 'SKIPPED' || LATER.has(reason ?? '')).length
    if (counted !== firedCount) problems.push(`${name} counts ${firedCount} firings of ${counted}`)
    const byHand = own.filter(({ cause, backfillId }) => cause !== BY_TIME && backfillId === null).length
    const least = new Set(handsOf(accepted(evidence), objectId)).size
    const most = new Set(handsOf(evidence.mutations, objectId)).size
    if (byHand < least || byHand > most) problems.push(`${name} was fired ${byHand} times by hand, and asked ${least}`)
    return [...problems, ...own.flatMap((one) => started(evidence, name, one))]
  })
  return [...lost, ...wrong]
}
const firstAfter = ({ ms, offsetMs }: NonNullable<ScheduleSpec['every']>, after: Date): number =>
  (Math.floor((after.getTime() - offsetMs) / ms) + 1) * ms + offsetMs
const handsOf = (all: Evidence['mutations'], objectId: string): readonly (string | null)[] =>
  all.filter(({ mutation, id }) => mutation === 'fireSchedule' && id === objectId).map(({ key }) => key)
/** Skipped by what else ran, after they had come in time. */
const LATER: ReadonlySet<string> = new Set<SkipReason>(['OVERLAP', 'QUEUE_FULL', 'REPLACED'])
/** True if what happened is what the reason says. */
function mayBeSkipped(
  { due, lastDue, at, reason, id }: Row<'firing'>,
  own: readonly Row<'firing'>[],
  { overlap, catchUp, graceMs, ms }: Pick<ScheduleSpec, 'overlap' | 'catchUp' | 'graceMs'> & { readonly ms: number },
): boolean {
  const others = own.filter((one) => one.id !== id)
  const lateMs = at.getTime() - (lastDue ?? due).getTime() + CLOCKS_MS
  /** One that had begun, and had not ended. */
  const isBusy = others.some(
    (one) =>
      one.outcome === 'FIRED' &&
      one.at.getTime() <= at.getTime() + CLOCKS_MS &&
      (one.endedAt?.getTime() ?? Number.POSITIVE_INFINITY) >= at.getTime() - CLOCKS_MS,
  )
  switch (reason as SkipReason) {
    case 'PAUSED':
      return true
    case 'MISSED':
      // The next time has come, too.
      return catchUp !== 'ALL' && (lateMs >= ms || (catchUp === 'NONE' && lateMs >= graceMs))
    case 'OVERLAP':
      return overlap === 'SKIP' && isBusy
    case 'QUEUE_FULL':
      return overlap === 'QUEUE' && isBusy
    case 'REPLACED':
      return overlap === 'CANCEL_RUNNING' && others.some((one) => one.due > due)
    default:
      return false
  }
}
/** A time is skipped as PAUSED where a pause begins or ends, and nothing is written while it lasts. */
function unpaused(evidence: Evidence, objectId: string, byTime: readonly Row<'firing'>[]): readonly string[] {
  const all = moves(evidence).filter((one) => one.objectId === objectId)
  const pauses = all.flatMap((one, i) =>
    one.to === 'PAUSED' && one.from !== 'PAUSED'
      ? [{ from: one.at, to: all.slice(i).find(({ to }) => to !== 'PAUSED')?.at ?? null }]
      : [],
  )
  const isEdge = (at: Date): boolean =>
    pauses.some(({ from, to }) => at.getTime() === from.getTime() || at.getTime() === to?.getTime())
  const isWithin = (at: Date): boolean => pauses.some(({ from, to }) => at > from && (to === null || at < to))
  return byTime.flatMap(({ at, due, reason }) => [
    ...(reason === 'PAUSED' && !isEdge(at) ? [`${objectId} skips ${time(due)} as PAUSED, and no pause was there`] : []),
    ...(isWithin(at) ? [`${objectId} has ${time(due)} at ${time(at)}, within a pause`] : []),
  ])
}
/** A firing that has started something names an event of its time, which has ended. */
function started(evidence: Evidence, name: string, firing: Row<'firing'>): readonly string[] {
  const { due, outcome, startedId, endedAt } = firing
  const what = `the firing of ${name} for ${time(due)}`
  if (outcome !== 'FIRED') return startedId === null && outcome === 'SKIPPED' ? [] : [`${what} is ${outcome}`]
  const payload = eventsOf(evidence, SOURCE.schedule).get(startedId ?? '')
  return [
    ...(payload === `${name} ${time(due)}` ? [] : [`${what} has started ${startedId}, which is of ${payload}`]),
    ...(endedAt === null ? [`${what} has no end`] : []),
  ]
}

/** Each event that a schedule or a hook has made is of one firing or delivery, and each of these has one. */
export const begun: Promised = (evidence) => {
  const { firing, hookDelivery } = evidence.tables
  const scheduled = eventsOf(evidence, SOURCE.schedule)
  const names = new Set(evidence.tables.schedule.map(({ objectId }) => objectsOf(evidence).get(objectId)?.name))
  const ofFirings = new Set(firing.map(({ startedId }) => startedId))
  const byHand = new Set(firing.filter(({ cause }) => cause !== BY_TIME).map(({ startedId }) => startedId))
  const alone = [...scheduled]
    // The firings of a deleted schedule go with it.
    .filter(([id, payload]) => names.has(payload.split(' ')[0]) && !ofFirings.has(id))
    .map(([id, payload]) => `the event ${id} is of ${payload}, and of no firing`)
  // A person may fire a schedule at the very millisecond of one of its times.
  const again = twice([...scheduled].filter(([id]) => !byHand.has(id)).map(([, payload]) => payload)).map(
    (payload) => `${payload} has two events`,
  )
  const posted = eventsOf(evidence, SOURCE.hook)
  const took = hookDelivery.filter(({ outcome }) => outcome === 'ACCEPTED')
  const byEvent = new Map(took.map(({ eventId, deliveryId }) => [eventId, deliveryId]))
  const hooks = new Set(evidence.tables.hook.map(({ id }) => id))
  return [
    ...alone,
    ...again,
    ...[...posted]
      .filter(([id, payload]) => byEvent.get(id) !== payload)
      .map(([id, payload]) => `the event ${id} is of ${payload}, and its delivery of ${byEvent.get(id)}`),
    ...twice([...posted.values()]).map((payload) => `${payload} has two events`),
    ...took
      .filter(({ eventId, hookId }) => !posted.has(eventId ?? '') || !hooks.has(hookId))
      .map(({ deliveryId }) => `the delivery ${deliveryId} was accepted, and has no event or no hook`),
    ...hookDelivery
      .filter(
        ({ outcome, eventId, reason }) =>
          outcome !== 'ACCEPTED' &&
          !(outcome === 'DUPLICATE' && posted.has(eventId ?? '')) &&
          // Nothing was written, and the sender is to try again.
          !(outcome === 'REFUSED' && reason?.startsWith('BUSY: ')),
      )
      .map(({ deliveryId, outcome }) => `the delivery ${deliveryId} is ${outcome}`),
  ]
}

/** A delivery that was answered with success has the event of that answer, however often it is sent. */
export const delivered: Promised = (evidence) => {
  const events = new Map([...eventsOf(evidence, SOURCE.hook)].map(([id, payload]) => [payload, id]))
  const sent = new Set(evidence.deliveries.map(({ id }) => id))
  return [
    ...evidence.deliveries.flatMap(({ id, askedMs, answeredMs, status, eventId }) => {
      if (answeredMs === null || mayBeLost(evidence, askedMs, answeredMs)) return []
      if (status === 202 || status === 200)
        return events.get(id) === eventId ? [] : [`${id} was accepted as ${eventId}: ${events.get(id)}`]
      return FOR_NOW.has(status ?? 0) ? [] : [`${id} was answered with ${status}`]
    }),
    ...[...events.keys()].filter((id) => !sent.has(id)).map((id) => `nobody has sent ${id}`),
  ]
}
/** The sender repeats what was answered so. */
const FOR_NOW: ReadonlySet<number> = new Set([429, 503])

/** A rule tells each of its changes at least once, in order for each object, and nothing else. */
export const told: Promised = (evidence) => {
  const { notificationRule, notification } = evidence.tables
  const changes = new Map(evidence.log.map((change) => [keyOf(change), change]))
  const names = new Set(notificationRule.map(({ name }) => name))
  const unknown = new Set(evidence.messages.map(({ rule }) => rule).filter((rule) => !names.has(rule)))
  return [
    ...(names.size > 0 ? [] : ['the rules are lost']),
    ...[...unknown].map((rule) => `${rule} has told of changes, and is lost`),
    ...notificationRule.flatMap(({ id, name, spec, afterSequence, behindSequence }) => {
      const { kinds } = (spec as unknown as RuleSpec).changes
      const wanted = evidence.log.filter(
        (one) => !one.rejected && one.sequence > afterSequence && kinds?.includes(one.kind),
      )
      const rows = notification.filter(({ ruleId }) => ruleId === id)
      const byChange = Map.groupBy(rows, (row) => keyOf((row.told as { readonly change: Told }).change))
      const got = evidence.messages.filter(({ rule }) => rule === name)
      const taken = new Set(got.filter(({ isTaken }) => isTaken).flatMap((one) => [one.id, keyOf(one)]))
      // Only the newest of the delivered ones stay.
      const isFull = rows.length >= KEPT.DELIVERED
      const known = new Set(wanted.map(keyOf))
      const first = evidence.log.find(({ kind }) => kinds?.includes(kind))
      return [
        ...(first && first.sequence <= afterSequence ? [`${name} begins after ${afterSequence} by its row`] : []),
        ...(behindSequence === null ? [] : [`${name} is behind, at ${behindSequence}`]),
        ...wanted.flatMap((change) => {
          const [row, ...more] = byChange.get(keyOf(change)) ?? []
          if (!taken.has(keyOf(change))) return [`${name} has told nobody of ${keyOf(change)}`]
          if (!row) return isFull ? [] : [`${name} has no message of ${keyOf(change)}`]
          return more.length > 0 ? [`${name} has two messages of ${keyOf(change)}`] : []
        }),
        ...rows.flatMap((row) => {
          const key = keyOf((row.told as { readonly change: Told }).change)
          const isWell = row.state === 'DELIVERED' && row.due === null && row.endedAt !== null && row.attempts > 0
          return [
            ...(known.has(key) ? [] : [`${name} tells of ${key}, which is no change of its`]),
            ...(isWell ? [] : [`the message of ${key} is ${row.state} after ${row.attempts} attempts`]),
            ...(taken.has(row.id) ? [] : [`the message of ${key} was delivered, and nobody has got it`]),
          ]
        }),
        ...disordered(evidence, got, changes),
      ]
    }),
    ...notification
      .filter(({ ruleId }) => !notificationRule.some(({ id }) => id === ruleId))
      .map(({ id, ruleId }) => `the message ${id} is of the rule ${ruleId}, which is lost`),
  ]
}
type Told = Pick<LoggedChange, 'sequence' | 'objectId' | 'to'>
const keyOf = ({ sequence, objectId, to }: Told): string => `${sequence} ${objectId} ${to}`
/** Repetitions may come later. A message of a lost history is of no change that there is now. */
function disordered(
  evidence: Evidence,
  got: Evidence['messages'],
  changes: ReadonlyMap<string, LoggedChange>,
): readonly string[] {
  const newest = new Map(got.map((one) => [keyOf(one), one.id]))
  // A lost history may have had a change that looks like one of the history that stays.
  const isLost = (one: Evidence['messages'][number]): boolean =>
    newest.get(keyOf(one)) !== one.id && mayBeUnknown(evidence, one.atMs)
  const isKnown = (one: Evidence['messages'][number]): boolean => changes.has(keyOf(one)) && !isLost(one)
  const foreign = got
    .filter((one) => !isKnown(one) && !mayBeUnknown(evidence, one.atMs))
    .map((one) => `${one.rule} has told of ${keyOf(one)}, which is not in the log`)
  /** The last one that has arrived of each object, and whether it was taken. */
  const latest = new Map<string, { readonly sequence: number; isTaken: boolean }>()
  const seen = new Set<string>()
  const wrong = got.filter(isKnown).flatMap(({ objectId, sequence, isTaken, rule, ...one }) => {
    const before = latest.get(objectId)
    const isAgain = seen.has(one.id)
    seen.add(one.id)
    if (before?.sequence === sequence) before.isTaken ||= isTaken
    if (before && before.sequence >= sequence) {
      return isAgain || before.sequence === sequence ? [] : [`${rule} has told of ${one.id} after ${before.sequence}`]
    }
    latest.set(objectId, { sequence, isTaken })
    return before?.isTaken === false ? [`${rule} has told of ${one.id} before ${before.sequence} was taken`] : []
  })
  return [...foreign, ...wrong]
}

/** Attempts are within their policy: as many as it has, after its backoff, and no further one after a success. */
export const retried: Promised = (evidence) => {
  const ofObject = Map.groupBy(moves(evidence), ({ objectId }) => objectId)
  const objects = objectsOf(evidence)
  const rows = [...evidence.tables.deployItem, ...evidence.tables.gadgetJob]
  // The log has each job, also those before and those of deleted objects.
  const ofJobs = Map.groupBy(moves(evidence).filter(isRetry), ({ objectId, jobId }) => `${objectId} ${jobId}`)
  const excess = [...ofJobs]
    .filter(([, all]) => all.length >= RETRY.attempts)
    .map(([job, all]) => `${job} had ${all.length + 1} attempts of ${RETRY.attempts}`)
  // A person has cancelled the job before: what fails then is not attempted again.
  const isCancelled = ({ rootId, jobId, sequence }: LoggedChange): boolean =>
    cancels.some((one) => one.rootId === rootId && one.jobId === jobId && one.sequence < sequence)
  const cancels = evidence.log.filter(
    ({ objectId, rootId, from, to, actor }) => objectId === rootId && from === to && actor === 'USER',
  )
  const wrong = rows.flatMap(({ objectId, retry }) => {
    const { policy, attempts } = (retry as { policy: RetryPolicy; attempts: readonly Attempt[] } | null) ?? {
      policy: null,
      attempts: [],
    }
    const { jobId, phase, kind, name } = objects.get(objectId) ?? {}
    const changes = (ofObject.get(objectId) ?? []).filter((one) => one.jobId === jobId)
    const again = changes.filter(isRetry)
    const what = `${kind} ${name} (${objectId})`
    if (!policy) return again.length > 0 ? [`${what} was retried, and has no policy`] : []
    const early = again.flatMap((one, i) => {
      const next = changes.find(({ sequence, to }) => sequence > one.sequence && to === BEGINS[one.kind])
      const { initialMs, factor, maxMs, jitter } = policy.backoff
      const leastMs = (1 - jitter) * Math.min(maxMs, initialMs * factor ** i) - CLOCKS_MS
      return next && next.at.getTime() - one.at.getTime() < leastMs
        ? [`attempt ${i + 2} of ${what} came ${next.at.getTime() - one.at.getTime()} ms after the one before`]
        : []
    })
    const last = changes.at(-1)
    const isGivenUp =
      last?.to === 'FAILED' && (last.actor === 'DEPLOYER' || last.actor === 'GADGET_RUNNER') && !isCancelled(last)
    const failed = attempts.filter(({ error }) => error !== null).length
    return [
      ...early,
      ...(again.length < policy.attempts ? [] : [`${what} had ${again.length + 1} attempts of ${policy.attempts}`]),
      ...(isGivenUp && again.length !== policy.attempts - 1 ? [`${what} was given up after ${again.length + 1}`] : []),
      ...(failed >= again.length ? [] : [`${what} forgets attempts: ${failed} of ${again.length}`]),
      ...(failed <= again.length + 1
        ? []
        : [`${what} has ${failed} failed attempts, and began again ${again.length} times`]),
      ...(SUCCESS.has(phase ?? '') && failed > again.length
        ? [`${what} has succeeded, and failed ${failed} times`]
        : []),
      ...(attempts.length <= policy.attempts ? [] : [`${what} has ${attempts.length} attempts`]),
    ]
  })
  return [...excess, ...wrong]
}
interface Attempt {
  readonly error: object | null
}
const isRetry = ({ kind, from, to, actor }: LoggedChange): boolean =>
  (kind === 'DEPLOY_ITEM' && from === 'PROGRESSING' && to === 'INIT' && actor === 'CONTROLLER') ||
  (kind === 'GADGET_JOB' && from === 'UNDOING' && to === 'PENDING')
/** The phase in which the next attempt begins. */
const BEGINS: Readonly<Record<string, string>> = { DEPLOY_ITEM: 'PROGRESSING', GADGET_JOB: 'DECLARING' }
const SUCCESS: ReadonlySet<string> = new Set(['SUCCEEDED', 'DONE'])
/** The times of two engines may differ by so much. */
const CLOCKS_MS = 1_000
