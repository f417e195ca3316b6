import type { HealthCheck, HealthCheckName } from './health.ts'
import {
  HEALTH_CAUSES,
  type HealthCauseName,
  type HealthSubject,
  type Severity,
  VERDICTS,
  type Verdict,
} from './health-causes.ts'
import { objectPage } from './object-page.ts'
import type { FigureName, Figures } from './ports/measured.ts'
import type { BlockerReason } from './vocabulary.ts'

/** Judges from facts whether work can continue, and names what a person has to do. Pure. */

interface SubjectFact {
  readonly subject: HealthSubject
}
/** The first blocker of an unfinished object. */
export interface WaitFact extends SubjectFact {
  readonly reason: BlockerReason
  readonly message: string
  readonly since: Date
  /** False: another object has the blocker, and this one waits for that. */
  readonly isOwn: boolean
  /** Types of work; only with the reason AGENT. */
  readonly types?: readonly string[] | undefined
  readonly connected?: boolean | undefined
  /** An agent may claim it now. */
  readonly isOffered: boolean
}
export interface FailureFact extends SubjectFact {
  readonly message: string
  readonly since: Date
  /** It never leaves its phase. */
  readonly isOver: boolean
}
/** A clock at whose end the object fails. */
export interface DeadlineFact extends SubjectFact {
  readonly message: string
  readonly since: Date
  readonly expiresAt: Date
}
export interface HoldFact extends SubjectFact, Trouble {}
interface Trouble {
  /** Null: nobody knows. */
  readonly since: Date | null
  readonly message: string
}
export interface ScheduleFact extends SubjectFact {
  /** It has started nothing that succeeded in time. */
  readonly overdue: Trouble | null
  /** The last firing, if it was refused. */
  readonly refused: Trouble | null
}
export interface HookFact extends SubjectFact {
  /** The last delivery, if it was refused. */
  readonly refused: (Trouble & { readonly since: Date }) | null
  /** It cannot ask its sender for what was lost. */
  readonly check: Trouble | null
}
export interface RuleFact extends SubjectFact {
  /** It has too many messages that wait. */
  readonly isBehind: boolean
  /** The oldest message that its receiver has refused and may still take. */
  readonly failing: (Trouble & { readonly since: Date }) | null
  /** The last message that was given up. */
  readonly lost: (Trouble & { readonly since: Date }) | null
}
export interface TokenFact extends SubjectFact {
  readonly createdAt: Date
  readonly expiresAt: Date
}
export interface ServerFacts {
  readonly checks: readonly HealthCheck[]
  readonly figures: Figures
  readonly clockOffsetMs: number
  /** Null: the server has none. */
  readonly certificateEnd: Date | null
  /** Space of the data folder; null: the database is elsewhere. */
  readonly disk: { readonly freeBytes: number; readonly bytes: number } | null
}
/** All that a caller may read. */
export interface CauseFacts {
  readonly waits: readonly WaitFact[]
  readonly failures: readonly FailureFact[]
  readonly deadlines: readonly DeadlineFact[]
  readonly holds: readonly HoldFact[]
  readonly schedules: readonly ScheduleFact[]
  readonly hooks: readonly HookFact[]
  readonly rules: readonly RuleFact[]
  readonly tokens: readonly TokenFact[]
  /** Null: the caller may not read it. */
  readonly server: ServerFacts | null
  /** False: there are more objects than were read. */
  readonly isComplete: boolean
}

interface Found extends SubjectFact, Trouble {
  readonly cause: HealthCauseName
  /** Objects that it holds up; 1 where it is about none. */
  readonly count: number
}
export interface HealthCause extends Found {
  readonly severity: Severity
  readonly action: string
  readonly command: string
  readonly page: string
}
export interface Health {
  readonly verdict: Verdict
  /** The worst first, then those that hold up most. */
  readonly causes: readonly HealthCause[]
  /** False: objects that were not read may have more causes. */
  readonly isComplete: boolean
}

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** Milliseconds, if nothing else is said. Each is longer than what a restart of an agent or a server takes. */
const BOUNDS = {
  wait: MINUTE,
  queue: 5 * MINUTE,
  /** Clocks that are shorter run out before a person could do anything. */
  deadline: MINUTE,
  deadlinePart: 0.8,
  engine: MINUTE,
  clock: 5_000,
  certificate: 14 * DAY,
  token: 7 * DAY,
  /** A token that lives for less is replaced by a program. */
  tokenLife: 14 * DAY,
  diskPart: 0.1,
  diskBytes: 2 ** 30,
} as const

export function judgeCauses(facts: CauseFacts, now: Date): Health {
  const found = [
    ...inServer(facts.server, now),
    ...ofWaits(facts.waits, now),
    ...ofFailures(facts, now),
    ...facts.deadlines.filter((one) => isNear(one, now)).map((one) => single('DEADLINE_NEAR', one)),
    ...facts.holds.map((one) => single('AUTOMATION_HELD', one)),
    ...facts.schedules.flatMap(({ subject, overdue }) => ifAny('SCHEDULE_OVERDUE', subject, overdue)),
    ...facts.schedules.flatMap(({ subject, refused }) => ifAny('SCHEDULE_REFUSED', subject, refused)),
    ...facts.hooks.flatMap((one) => ofHook(one, now)),
    ...facts.rules.flatMap((one) => ofRule(one, now)),
    ...facts.tokens.flatMap((one) => ofToken(one, now)),
  ]
  const causes = found.map(withAction).toSorted(compare)
  return { verdict: causes[0]?.severity ?? 'HEALTHY', causes, isComplete: facts.isComplete }
}

const ORDER = Object.keys(HEALTH_CAUSES)
const SEVERITIES = Object.keys(VERDICTS)
const compare = (a: HealthCause, b: HealthCause): number =>
  SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity) ||
  b.count - a.count ||
  ORDER.indexOf(a.cause) - ORDER.indexOf(b.cause) ||
  (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0)

function withAction(found: Found): HealthCause {
  const { subject } = found
  const { severity, action, command, page } = HEALTH_CAUSES[found.cause]
  return {
    ...found,
    severity,
    action,
    command: command(subject),
    page: page ?? (subject.object ? objectPage(subject.object) : '/'),
  }
}

const single = (cause: HealthCauseName, { subject, message, since }: SubjectFact & Trouble): Found => ({
  ...{ cause, subject, message, since },
  count: 1,
})
const ifAny = (cause: HealthCauseName, subject: HealthSubject, trouble: Trouble | null): readonly Found[] =>
  trouble ? [single(cause, { subject, ...trouble })] : []
const isOlder = (since: Date, ms: number, now: Date): boolean => now.getTime() - since.getTime() > ms

/** The cause of such a wait, and how long it may last. An absent reason ends by itself, or as somebody has decided. */
const WAITS: Readonly<Partial<Record<BlockerReason, readonly [cause: HealthCauseName, afterMs: number]>>> = {
  DECISION: ['DECISION', 0],
  PAUSED: ['PAUSED', 0],
  IMPORT: ['MISSING_IMPORT', BOUNDS.wait],
  PLACE: ['NO_PLACE', BOUNDS.wait],
  CLOUDLET: ['CLOUDLET_OFFLINE', BOUNDS.wait],
  CAPACITY: ['SLOTS_FULL', BOUNDS.queue],
}
function causeOfWait({ reason, connected, isOffered }: WaitFact) {
  if (reason !== 'AGENT') return WAITS[reason]
  if (!connected) return ['NO_AGENT', BOUNDS.wait] as const
  return isOffered ? (['WORK_WAITS', BOUNDS.queue] as const) : undefined
}

/** One for all that wait for the same. It has lasted for as long as the object that waits for nothing else has had it. */
function ofWaits(waits: readonly WaitFact[], now: Date): readonly Found[] {
  const found = waits.flatMap((wait) => {
    const [cause, afterMs = 0] = causeOfWait(wait) ?? []
    return cause ? [{ cause, afterMs, wait }] : []
  })
  return groups(found, ({ cause, wait }) => `${cause} ${sayingOf(wait)}`).flatMap((group) => {
    const { cause, afterMs, wait } = group.reduce((a, b) => (isLonger(b.wait, a.wait) ? b : a))
    if (now.getTime() - wait.since.getTime() < afterMs) return []
    const { subject, message, since, types } = wait
    const project = new Set(group.map((one) => one.wait.subject.project)).size === 1 ? subject.project : null
    const about = types ? { ...subject, project, name: types.join(', ') } : subject
    return { cause, subject: about, message, since, count: group.length }
  })
}
const isLonger = (a: WaitFact, b: WaitFact): boolean => (a.isOwn === b.isOwn ? a.since < b.since : a.isOwn)
/** A tree is paused as a whole, and agents serve types. */
const sayingOf = ({ reason, subject, types, message }: WaitFact): string =>
  (reason === 'PAUSED' ? subject.object?.rootId : types?.join()) ?? message

function ofFailures({ failures, waits }: CauseFacts, now: Date): readonly Found[] {
  const undecided = new Set(waits.flatMap(({ reason, subject }) => (reason === 'DECISION' ? subject.object?.id : [])))
  const standing = failures.filter(
    ({ subject, isOver, since }) => !undecided.has(subject.object?.id) && !(isOver && isOlder(since, DAY, now)),
  )
  return groups(standing, ({ message, subject }) => `${subject.project} ${message}`).map((group) => ({
    ...single('FAILED', { ...group[0], since: oldest(group.map(({ since }) => since)) }),
    count: group.length,
  }))
}

function isNear({ since, expiresAt }: DeadlineFact, now: Date): boolean {
  const wholeMs = expiresAt.getTime() - since.getTime()
  return wholeMs >= BOUNDS.deadline && isOlder(since, wholeMs * BOUNDS.deadlinePart, now)
}

const ofHook = ({ subject, refused, check }: HookFact, now: Date): readonly Found[] =>
  ifAny('HOOK_REFUSES', subject, isRecent(refused, now) ? refused : check)

function ofRule({ subject, isBehind, failing, lost }: RuleFact, now: Date): readonly Found[] {
  const behind = isBehind
    ? { since: null, message: 'Too many of its messages wait: it stays behind in the log.' }
    : null
  const isFailing = failing && isOlder(failing.since, BOUNDS.queue, now)
  return ifAny('NOTIFICATIONS_LATE', subject, isFailing ? failing : (behind ?? (isRecent(lost, now) ? lost : null)))
}
const isRecent = (one: { readonly since: Date } | null, now: Date): boolean =>
  one !== null && !isOlder(one.since, DAY, now)

function ofToken({ subject, createdAt, expiresAt }: TokenFact, now: Date): readonly Found[] {
  const leftMs = expiresAt.getTime() - now.getTime()
  const isShort = !isOlder(createdAt, BOUNDS.tokenLife - 1, expiresAt)
  if (isShort || leftMs > BOUNDS.token || leftMs < -DAY) return []
  const message = `It ${leftMs > 0 ? 'expires' : 'has expired'} at ${expiresAt.toISOString()}.`
  return [single('TOKEN_EXPIRES', { subject, since: leftMs > 0 ? null : expiresAt, message })]
}

/** Causes of failed checks; SERVER_NOT_READY of the others. */
const OF_CHECKS: Readonly<Partial<Record<HealthCheckName, HealthCauseName>>> = {
  writable: 'NOT_WRITABLE',
  numberer: 'LOG_NOT_NUMBERED',
  engine: 'ENGINE_LATE',
}
function inServer(server: ServerFacts | null, now: Date): readonly Found[] {
  if (!server) return []
  const { checks, figures, clockOffsetMs, certificateEnd, disk } = server
  const found: Found[] = []
  const say = (cause: HealthCauseName, message: string, since: Date | null = null, count = 1) => {
    if (found.every((one) => one.cause !== cause))
      found.push({ cause, message, since, count, subject: { project: null, name: 'server', object: null } })
  }
  for (const { name, ok, reason } of checks) {
    if (!ok) say(OF_CHECKS[name] ?? 'SERVER_NOT_READY', `The check ${name} fails: ${reason}.`)
  }
  const figure = (name: FigureName): number => figures[name]?.[0]?.value ?? 0
  const lateMs = figure('trees_oldest_due_seconds') * 1_000
  if (lateMs > BOUNDS.engine) {
    const due = (figures.trees_due ?? []).reduce((sum, { value }) => sum + value, 0)
    say('ENGINE_LATE', `${due} trees are due.`, new Date(now.getTime() - lateMs), due)
  }
  const failing = figure('trees_failing')
  if (failing > 0) say('TREES_FAILING', `${failing} trees cannot be decided.`, null, failing)
  if (Math.abs(clockOffsetMs) > BOUNDS.clock) say('CLOCK_OFF', `It is off by ${Math.round(clockOffsetMs / 1_000)} s.`)
  const leftMs = certificateEnd ? certificateEnd.getTime() - now.getTime() : BOUNDS.certificate
  if (leftMs < 0) say('CERTIFICATE_EXPIRED', `It has expired at ${certificateEnd?.toISOString()}.`, certificateEnd)
  else if (leftMs < BOUNDS.certificate) say('CERTIFICATE_EXPIRES', `It expires at ${certificateEnd?.toISOString()}.`)
  if (disk && disk.freeBytes < BOUNDS.diskBytes && disk.freeBytes < disk.bytes * BOUNDS.diskPart)
    say('DISK_LOW', `${Math.round(disk.freeBytes / 2 ** 20)} MiB are free.`)
  return found
}

const oldest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((first, time) => (first && first <= time ? first : time), null)
/** None of them is empty. */
const groups = <T>(ungrouped: readonly T[], keyOf: (one: T) => string): readonly (readonly [T, ...T[]])[] =>
  [...Map.groupBy(ungrouped, keyOf).values()] as unknown as readonly (readonly [T, ...T[]])[]
