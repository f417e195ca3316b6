import { parseDateTime, type QuietHoursInput, WEEKDAYS } from '../../../core/date-time.ts'
import { GATE, type GateConfig, MAX_APPROVALS, OPENERS } from '../../../core/deployers/gate.ts'
import { type FieldProblem, inOneLine, objectFailure } from '../../../core/errors.ts'
import { hasExpressions } from '../../../core/expression.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { APPROVERS } from '../../../core/rights.ts'
import { NEW_WORK, type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import { normaliseQuietHours, type QuietHours, quietUntil } from '../../quiet-hours.ts'
import { after, isFollowed } from './attempts.ts'
import {
  type Approval,
  type Decision,
  type DeployItemDetails,
  deployItem,
  type InstallationDetails,
  type ItemGate,
  isCancelled,
} from './details.ts'
import { cancelMessage, finish } from './finish.ts'
import type { ItemSpec } from './spec.ts'

/** Gates: deploy items that people, a program or the clock end, in the place of a deployer. */

export const isGate = (item: Node): boolean => deployItem(item).type === GATE
/** The gate at which an item waits for a decision; null: it waits for none. */
export function waitingGate({ row, details }: Pick<Node, 'row' | 'details'>): ItemGate | null {
  const gate = row.kind === 'DEPLOY_ITEM' && row.phase === 'INIT' ? (details as DeployItemDetails).gate : null
  return gate?.decision ? null : gate
}

/** The problem of a config in a spec, as far as its expressions do not leave that open; null: there is none. */
export function gateProblem(config: unknown, now: Date): FieldProblem | null {
  if (typeof config === 'string') return null
  const { message: _, ...opening } = (config ?? {}) as GateConfig
  const gate = hasExpressions(opening) ? notOneOpener(opening) : readGate(opening, now)
  return gate && 'path' in gate ? gate : null
}

/** A resolved config, in which an expression may have become anything; or what is wrong with it. */
export function readGate(config: unknown, now: Date): ItemGate | FieldProblem {
  const { message = null, approval, signal, until, freeze } = (config ?? {}) as GateConfig
  if (message !== null && typeof message !== 'string') return wrong('message', 'must be a text')
  const unclear = notOneOpener(config)
  if (unclear) return unclear
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
    const problems = new Problems()
    const hours = normaliseQuietHours(freeze, 'freeze', problems)
    const [problem] = problems.found
    if (problem) return problem
    if (!hours) return wrong('freeze', 'must be hours')
    return { ...gate, freeze: hours, until: endOf(hours, now) }
  }
  if (signal !== undefined) return typeof signal === 'string' ? { ...gate, signal } : wrong('signal', 'must be a name')
  if (typeof approval !== 'object' || approval === null) return wrong('approval', 'must be an object')
  const { count = 1, role = null, authorMay = false } = approval
  if (!Number.isInteger(count) || count < 1 || count > MAX_APPROVALS)
    return wrong('approval.count', `must be 1 to ${MAX_APPROVALS}`)
  if (role !== null && !APPROVERS.includes(role))
    return wrong('approval.role', `must be one of ${APPROVERS.join(', ')}`)
  return { ...gate, approval: { count, role, authorMay: authorMay === true } }
}

const wrong = (path: string, message: string): FieldProblem => ({ path, message })
function notOneOpener(config: unknown): FieldProblem | null {
  const there = OPENERS.filter((name) => (config as GateConfig | null)?.[name] !== undefined)
  if (there.length === 1) return null
  return wrong('', `must have one of ${OPENERS.join(', ')}, and has ${there.join(' and ') || 'none'}`)
}

const isFreeze = (value: unknown): value is QuietHoursInput => {
  const { ranges } = (value ?? {}) as Partial<QuietHoursInput>
  return (
    Array.isArray(ranges) &&
    ranges.every(
      (range: QuietHoursInput['ranges'][number] | null) =>
        typeof range?.from === 'string' &&
        typeof range.to === 'string' &&
        (range.days ?? []).every((day) => WEEKDAYS.includes(day)),
    )
  )
}

/** The time at which the hours are over: now, if they are. */
const endOf = (hours: QuietHours, now: Date): string => (quietUntil(hours, now) ?? now).toISOString()

/** The item waits at its gate; `timeouts.pickup` says how long, and without it there is no end. */
export function closeGate(item: Node, slice: Slice, { config, spec, jobId }: Waiting): void {
  const gate = readGate(config, slice.now)
  if ('path' in gate) {
    slice.move(item, 'INIT')
    const message = gate.path === '' ? `The config ${gate.message}` : inOneLine([gate])
    return finish(item, slice, { to: 'FAILED', error: objectFailure(slice, 'GATE', message) })
  }
  slice.setDetails(item, { gate })
  // Rules of notifications find it by the reason.
  slice.move(item, 'INIT', { reason: reasonOf(gate), message: describeGate(gate) })
  const { pickup } = spec.timeouts
  const expiresAt = after(slice.now, pickup && 'ms' in pickup ? pickup.ms : null)
  const opensAt = gate.until === null ? null : new Date(gate.until)
  const dueAt = opensAt && (!expiresAt || opensAt < expiresAt) ? opensAt : expiresAt
  // Claimed without a lease: it has a clock, and no agent gets it.
  const { type, target } = deployItem(item)
  slice.setWork(item, {
    ...{ ...NEW_WORK, type, target, action: 'RECONCILE', state: WORK_STATE.CLAIMED, config, jobId },
    ...{ triggeredAt: slice.now, dueAt },
  })
  watchGate(item, slice)
}
const reasonOf = ({ approval, signal }: ItemGate): string =>
  approval ? 'APPROVAL' : signal === null ? 'TIME' : 'SIGNAL'

interface Waiting {
  readonly config: unknown
  readonly spec: ItemSpec
  readonly jobId: string
}

/** A gate that waits: decided, cancelled, or its clock has run out. */
export function watchGate(item: Node, slice: Slice): void {
  const { gate } = deployItem(item)
  const { dueAt } = item.work ?? {}
  const { decision, until = null, freeze } = gate ?? {}
  if (decision?.exports) return open(item, slice, decision)
  if (decision) return fail(item, slice, 'REJECTED', decision.message, decision.by)
  const uselessBecause = whyUseless(item, slice)
  if (uselessBecause !== null)
    return finish(item, slice, { to: 'ABORTED', error: objectFailure(slice, 'ABORTED', uselessBecause) })
  if (!dueAt || dueAt > slice.now) return
  if (until !== null && new Date(until) <= slice.now) {
    // The engine may be late, and the next hours have begun.
    const reopens = freeze ? quietUntil(freeze, slice.now) : null
    if (reopens) {
      slice.setDetails(item, { gate: { ...gate, until: reopens.toISOString() } })
      return slice.setWork(item, { dueAt: reopens })
    }
    return open(item, slice, { by: null, message: 'Its time has come.', exports: null })
  }
  fail(item, slice, 'GATE_EXPIRED', 'Nobody opened it in time.')
}

/** Why nothing would begin behind the gate: nobody is asked in vain, and the job does not wait for them. */
function whyUseless(item: Node, slice: Slice): string | null {
  if (isCancelled(slice)) return cancelMessage(slice)
  if (slice.parent(item)?.childCounts.failed) return 'An item beside it has failed.'
  // First the items beside it are triggered, which this end would leave out.
  return isFollowed(slice) && slice.isAtRest(item) ? 'Its job is to be followed by another.' : null
}

/** It succeeds. With its config, IF_CHANGED keeps it in later jobs. */
function open(
  item: Node,
  slice: Slice,
  { by, message, exports }: Omit<Decision, 'by'> & { readonly by: Principal | null },
) {
  if (exports || deployItem(item).exports) slice.setDetails(item, { exports })
  slice.setWork(item, { handedConfig: item.work?.config })
  finish(item, slice, { to: 'SUCCEEDED', message, ...(by && { actor: 'USER', by }) })
}

function fail(item: Node, slice: Slice, code: string, message: string, by: Principal | null = null): void {
  finish(item, slice, { to: 'FAILED', error: objectFailure(slice, code, message), ...(by && { actor: 'USER', by }) })
}

/** False: the principal has written the spec that the job uses, or has asked for the job, and the gate takes others. */
export const mayApprove = (
  principalId: string,
  { approval }: ItemGate,
  { origin, editorId }: Pick<InstallationDetails, 'origin' | 'editorId'>,
): boolean => approval?.authorMay === true || ![origin?.byId, origin?.editorId, editorId].includes(principalId)

/** Notes a decision. The engine ends the item, which releases others. */
export function decide(item: Node, slice: Slice, decision: Decision): void {
  const { gate } = deployItem(item)
  if (gate) slice.setDetails(item, { gate: { ...gate, decision } })
}

/** Notes an approval. With those before it that count, it may be enough. */
export function approve(item: Node, slice: Slice, approval: Approval, counted: readonly Approval[]): void {
  const { gate } = deployItem(item)
  if (!gate?.approval) return
  const { by, comment } = approval
  const said = comment === null ? '.' : `: ${comment}`
  const approvals = [...counted, approval]
  const names = approvals.map((one) => one.by.name)
  slice.setDetails(item, { gate: { ...gate, approvals } })
  if (approvals.length >= gate.approval.count) {
    const { principalId, name } = by
    const message = `Approved by ${names.join(', ')}${said}`
    return decide(item, slice, { by: { principalId, name }, message, exports: { approvedBy: names } })
  }
  const message = `Approval ${approvals.length} of ${gate.approval.count}${said}`
  slice.recordRequest(item, { by, reason: 'approved', message })
}

/** Says what opens a gate, for people. */
export function describeGate({ message, approval, approvals, signal, until }: ItemGate): string {
  const what = message === null ? '' : ` ${message}`
  if (until !== null) return `Opens at ${until}.${what}`
  if (signal !== null) return `Waits for the signal ${signal}.${what}`
  const { count = 1, role = null } = approval ?? {}
  const whose = role === null ? '' : ` of the role ${role}`
  const given = approvals.length === 0 ? '' : ` (approved by ${approvals.map((one) => one.by.name).join(', ')})`
  const wanted = count === 1 ? 'an approval' : `${count} approvals`
  return `Waits for ${wanted}${whose}${given}.${what}`
}
