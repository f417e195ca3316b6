import { parseDateTime, type QuietHoursInput, WEEKDAYS } from '../core/date-time.ts'
import { type ApproverRole, GATE_SCHEMA, type GateConfig, MAX_APPROVALS, OPENERS } from '../core/deployers/gate.ts'
import type { FieldProblem } from '../core/errors.ts'
import { hasExpressions } from '../core/expression.ts'
import type { Principal } from '../core/ports/viewer.ts'
import { Problems } from '../core/problems.ts'
import { APPROVERS } from '../core/rights.ts'
import type { Node, Slice } from '../core/tree.ts'
import { checkSchema } from '../sandbox/check-schema.ts'
import { describeHttp, type HttpOpener, readHttp, type ShownPoll, wrong } from './http-gate.ts'
import type { Editor } from './on-behalf.ts'
import { normaliseQuietHours, type QuietHours, quietUntil } from './quiet-hours.ts'

/** Gates: what people, a program, the clock or an address let begin. Families keep them beside their objects. */

/** A gate, with what has been decided. */
export interface Gate {
  readonly message: string | null
  /** One of approval, signal, until and http is there. */
  readonly approval: WantedApproval | null
  readonly signal: string | null
  /** JSON Schema of what comes with the signal; absent: any object. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** ISO 8601. */
  readonly until: string | null
  /** The hours of which `until` is the end; absent: it is a time of the config. */
  readonly freeze?: QuietHours
  /** The address that opens it; absent: none does. */
  readonly http?: HttpOpener
  /** The row of the address; absent: it was not read. */
  readonly poll?: ShownPoll | null
  readonly approvals: readonly Approval[]
  /** A person, the signal of a program or an address has decided, and the engine acts on it; absent: nobody has. */
  readonly decision?: Decision
}
export interface Decision {
  /** Null: an address. */
  readonly by: Principal | null
  readonly message: string
  /** Null: it is rejected. */
  readonly exports: Readonly<Record<string, unknown>> | null
}
interface WantedApproval {
  readonly count: number
  /** Null: any that may approve. */
  readonly role: ApproverRole | null
  readonly authorMay: boolean
}
export interface Approval {
  readonly by: Editor
  /** ISO 8601. */
  readonly at: string
  readonly comment: string | null
}

/** How a family keeps the gates of its objects. */
export interface Gates {
  /** The gate at which an object waits for a decision; null: it waits for none. */
  waiting(node: Pick<Node, 'row' | 'details'>): Gate | null
  /** Ids of its authors, who do not approve it unless it allows that. */
  authors(node: Node, slice: Slice): readonly (string | null | undefined)[]
  write(node: Node, gate: Gate, slice: Slice): void
}

/** The problem of a config in a spec, as far as its expressions do not leave that open; null: there is none. */
export function gateProblem(config: unknown, now: Date): FieldProblem | null {
  if (typeof config === 'string') return null
  const { message: _, ...opening } = (config ?? {}) as GateConfig
  const gate = hasExpressions(opening) ? notOneOpener(opening) : readGate(opening, now)
  return gate && 'path' in gate ? gate : null
}

/** A resolved config, in which an expression may have become anything; or what is wrong with it. */
export function readGate(config: unknown, now: Date): Gate | FieldProblem {
  const { message = null, approval, signal, schema, until, freeze, http } = (config ?? {}) as GateConfig
  if (message !== null && typeof message !== 'string') return wrong('message', 'must be a text')
  const unclear = notOneOpener(config)
  if (unclear) return unclear
  if (schema !== undefined && signal === undefined) return wrong('schema', 'is only for a gate that a signal opens')
  const gate = { message, approval: null, signal: null, until: null, approvals: [] }
  if (until !== undefined) {
    const at = typeof until === 'string' ? parseDateTime(until) : null
    return at
      ? { ...gate, until: at.toISOString() }
      : wrong('until', 'must be a time with a zone, such as 2026-01-31T08:00:00Z')
  }
  if (freeze !== undefined) {
    if (!isFreeze(freeze))
      return wrong('freeze.ranges', 'must be ranges of hours, such as { from: "16:00", to: "07:00" }')
    if (freeze.ranges.length > MOST_RANGES) return wrong('freeze.ranges', `must be at most ${MOST_RANGES}`)
    const problems = new Problems()
    const hours = normaliseQuietHours(freeze, 'freeze', problems)
    const [problem] = problems.found
    if (problem) return problem
    if (!hours) return wrong('freeze', 'must be hours')
    return { ...gate, freeze: hours, until: endOf(hours, now) }
  }
  if (http !== undefined) {
    const opener = readHttp(http)
    return 'path' in opener ? opener : { ...gate, http: opener }
  }
  if (signal !== undefined) {
    if (typeof signal !== 'string') return wrong('signal', 'must be a name')
    if (schema === undefined) return { ...gate, signal }
    const checked = checkSchema(schema)
    return checked.ok ? { ...gate, signal, schema } : wrong('schema', checked.message)
  }
  if (typeof approval !== 'object' || approval === null) return wrong('approval', 'must be an object')
  const { count = 1, role = null, authorMay = false } = approval
  if (!Number.isInteger(count) || count < 1 || count > MAX_APPROVALS)
    return wrong('approval.count', `must be 1 to ${MAX_APPROVALS}`)
  if (role !== null && !APPROVERS.includes(role))
    return wrong('approval.role', `must be one of ${APPROVERS.join(', ')}`)
  return { ...gate, approval: { count, role, authorMay: authorMay === true } }
}

function notOneOpener(config: unknown): FieldProblem | null {
  const there = OPENERS.filter((name) => (config as GateConfig | null)?.[name] !== undefined)
  if (there.length === 1) return null
  return wrong('', `must have one of ${OPENERS.join(', ')}, and has ${there.join(' and ') || 'none'}`)
}

const { maxItems: MOST_RANGES } = GATE_SCHEMA.properties.freeze.properties.ranges
const isFreeze = (value: unknown): value is QuietHoursInput => {
  const { ranges } = (value ?? {}) as Partial<QuietHoursInput>
  return (
    Array.isArray(ranges) &&
    ranges.every(
      (range: QuietHoursInput['ranges'][number] | null) =>
        typeof range?.from === 'string' &&
        typeof range.to === 'string' &&
        Array.isArray(range.days ?? []) &&
        (range.days ?? []).every((day) => WEEKDAYS.includes(day)),
    )
  )
}

/** The time at which the hours are over: now, if they are. */
const endOf = (hours: QuietHours, now: Date): string => (quietUntil(hours, now) ?? now).toISOString()

/** As the log says it: rules of notifications find it by that. */
export const gateReason = ({ approval, signal, http }: Gate): string =>
  approval ? 'APPROVAL' : http ? 'HTTP' : signal === null ? 'TIME' : 'SIGNAL'

/** The address of a gate that closes is asked from then on. */
export function askAddress(node: Node, { http }: Gate, slice: Slice): void {
  if (http) slice.effect('gateCloses', { id: node.row.id, http })
}

declare module '../core/tree.ts' {
  interface FamilyEffects {
    /** The gate of the object has an address, which is asked until it is open. */
    gateCloses: { readonly id: string; readonly http: HttpOpener }
  }
}

/** When hours of a freeze that have begun since are over; null: none have, so the time of the gate has come. */
export const reopensAt = ({ freeze }: Gate, now: Date): Date | null => (freeze ? quietUntil(freeze, now) : null)

/** False: the principal is an author, and the gate takes others. */
export const mayApprove = (
  principalId: string,
  { approval }: Gate,
  authors: readonly (string | null | undefined)[],
): boolean => approval?.authorMay === true || !authors.includes(principalId)

/** Notes an approval. With those before it that count, it may be enough; otherwise `message` says how many there are. */
export function withApproval(
  gate: Gate,
  approval: Approval,
  counted: readonly Approval[],
): { readonly gate: Gate; readonly message: string | null } {
  const { by, comment } = approval
  const said = comment === null ? '.' : `: ${comment}`
  const approvals = [...counted, approval]
  const names = approvals.map((one) => one.by.name)
  const needed = gate.approval?.count ?? 1
  if (approvals.length < needed)
    return { gate: { ...gate, approvals }, message: `Approval ${approvals.length} of ${needed}${said}` }
  const { principalId, name } = by
  const message = `Approved by ${names.join(', ')}${said}`
  const decision = { by: { principalId, name }, message, exports: { approvedBy: names } }
  return { gate: { ...gate, approvals, decision }, message: null }
}

/** Says what opens a gate, for people. */
export function describeGate({ message, approval, approvals, signal, until, http, poll = null }: Gate): string {
  const what = message === null ? '' : ` ${message}`
  if (http) return `${describeHttp(http, poll)}${what}`
  if (until !== null) return `Opens at ${until}.${what}`
  if (signal !== null) return `Waits for the signal ${signal}.${what}`
  const { count = 1, role = null } = approval ?? {}
  const whose = role === null ? '' : ` of the role ${role}`
  const given = approvals.length === 0 ? '' : ` (approved by ${approvals.map((one) => one.by.name).join(', ')})`
  const wanted = count === 1 ? 'an approval' : `${count} approvals`
  return `Waits for ${wanted}${whose}${given}.${what}`
}

/** A gate that no person opens. */
export interface GateBlocker {
  readonly reason: 'GATE'
  readonly message: string
  readonly signal: string | null
  readonly opensAt: Date | null
  /** When its address is asked next; null: none opens it. */
  readonly asksAt: Date | null
}
export const gateBlocker = (gate: Gate): GateBlocker => ({
  ...{ reason: 'GATE', signal: gate.signal, message: describeGate(gate) },
  opensAt: gate.until === null ? null : new Date(gate.until),
  asksAt: gate.poll ? new Date(gate.poll.nextAt) : null,
})
