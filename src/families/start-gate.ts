import { GATE_SCHEMA, type StartGateConfig } from '../core/deployers/gate.ts'
import type { FieldProblem } from '../core/errors.ts'
import { parseDuration } from '../core/parse-duration.ts'
import type { Principal } from '../core/ports/viewer.ts'
import type { Problems } from '../core/problems.ts'
import type { Node, Slice } from '../core/tree.ts'
import { askAddress, describeGate, type Gate, type Gates, gateReason, mayApprove, readGate, reopensAt } from './gate.ts'
import { wrong } from './http-gate.ts'

/** Gates of objects that wait there before they start, such as workers. */

/** How the API describes a gate before a start. */
export const GATE_TEXT =
  'An object with one of `approval`, `signal`, `until`, `freeze` and `http`, as the config of a deploy item of the type gate, and perhaps `message`, `schema` (of a signal) and `timeout` (such as "2h").'
/** The longest that a gate before a start may wait, if its config bounds that. */
const MAX_TIMEOUT_MS = 31 * 24 * 60 * 60 * 1_000
const { properties: FIELDS } = GATE_SCHEMA

/** The problem of the gate in the spec of what waits there; null: there is none. A deploy item's config has a schema instead. */
function startGateProblem(config: unknown): FieldProblem | null {
  if (!isRecord(config)) return wrong('', 'must be an object')
  const { timeout, ...gate } = config as StartGateConfig
  const { message = '', approval = {}, signal = 'x' } = gate
  const unknown =
    unknownKey(gate, FIELDS) ?? (isRecord(approval) ? unknownKey(approval, FIELDS.approval.properties) : null)
  if (unknown !== null) return wrong(unknown, 'is not known here')
  if (String(message).length > FIELDS.message.maxLength)
    return wrong('message', `must have at most ${FIELDS.message.maxLength} characters`)
  if (!new RegExp(FIELDS.signal.pattern).test(String(signal)))
    return wrong('signal', 'must be a name of letters, digits, ".", "_" and "-"')
  const timeoutMs = timeout === undefined ? 1 : typeof timeout === 'string' ? parseDuration(timeout) : null
  if (timeoutMs === null || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS)
    return wrong('timeout', 'must be a duration such as 2h, of at most 31 days')
  const read = readGate(gate, new Date(0))
  return 'path' in read ? read : null
}
/** The same, with its problem among the others. */
export function startGateOf(input: unknown, path: string, problems: Problems): StartGateConfig {
  const problem = startGateProblem(input)
  if (problem) problems.add(problem.path === '' ? path : `${path}.${problem.path}`, problem.message)
  return input as StartGateConfig
}
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const unknownKey = (value: object, known: object): string | null =>
  Object.keys(value).find((key) => !Object.hasOwn(known, key)) ?? null

/** The gate at which an object waits before it starts. */
export interface StartGate extends Gate {
  /** The principal that has asked for the tree; null: the log no longer says. */
  readonly authorId: string | null
  /** Since when it is closed, as ISO 8601; null: the turn of its object has not come, and nobody is asked. */
  readonly since: string | null
  /** Null: it waits for ever. */
  readonly timeoutMs: number | null
  /** Absent: it is closed. */
  readonly isOpen?: true
}

export function newStartGate({ timeout, ...config }: StartGateConfig, now: Date, authorId: string | null): StartGate {
  const gate = readGate(config, now)
  if ('path' in gate) throw new Error(`a spec was written with a gate that cannot be read: ${gate.message}`)
  return {
    ...gate,
    authorId,
    since: now.toISOString(),
    timeoutMs: timeout === undefined ? null : parseDuration(timeout),
  }
}

/** The gate of an object whose turn comes later. */
export const futureGate = (config: StartGateConfig, now: Date, authorId: string): StartGate => ({
  ...newStartGate(config, now, authorId),
  since: null,
})

/** The gates before the start of a family's objects. */
export const startGates = (
  gateOf: (node: Pick<Node, 'row' | 'details'>) => StartGate | null,
  write: Gates['write'],
): Gates & { readonly gateOf: typeof gateOf } => ({
  gateOf,
  waiting(node) {
    const gate = gateOf(node)
    return node.row.phase !== 'PENDING' || !gate?.since || gate.isOpen || gate.decision ? null : gate
  },
  authors: (node) => [gateOf(node)?.authorId],
  write,
})

/** The caller at the gate of an object that waits for people; null: it does not. */
export function startApproval(
  { gateOf, waiting }: ReturnType<typeof startGates>,
  node: Pick<Node, 'row' | 'details'>,
  { principalId }: { readonly principalId: string },
): { readonly isAuthor: boolean } | null {
  const gate = waiting(node)
  return gate?.approval ? { isAuthor: !mayApprove(principalId, gate, [gateOf(node)?.authorId]) } : null
}

/** Rules of notifications find by the reason what waits. */
export function announceGate(node: Node, gate: Gate, slice: Slice): void {
  slice.recordRequest(node, { reason: gateReason(gate), message: describeGate(gate) })
  askAddress(node, gate, slice)
}

interface GateEnd {
  readonly actor: 'USER' | 'CONTROLLER'
  readonly by?: Principal | null
  readonly code: 'REJECTED' | 'GATE_EXPIRED'
  readonly message: string
}
/** True: it is open. Otherwise a clock of the object runs, if its gate has a time, or `end` has been called. */
export function passesGate(
  node: Node,
  slice: Slice,
  { gate, write, end }: { gate: StartGate; write(gate: StartGate): void; end(how: GateEnd): void },
): boolean {
  if (gate.isOpen) return true
  const open = (by: Principal | null, message: string): true => {
    write({ ...gate, isOpen: true })
    slice.setClock(node, null)
    slice.recordRequest(node, { ...(by && { by }), reason: 'gate opened', message })
    return true
  }
  const finish = (how: GateEnd): false => {
    slice.setClock(node, null)
    end(how)
    return false
  }
  const { decision, timeoutMs } = gate
  const since = gate.since === null ? slice.now : new Date(gate.since)
  if (decision?.exports) return open(decision.by, decision.message)
  if (decision) return finish({ actor: 'USER', by: decision.by, code: 'REJECTED', message: decision.message })
  const due = gate.until === null ? null : new Date(gate.until)
  const opens = due && due <= slice.now ? reopensAt(gate, slice.now) : due
  if (due && !opens) return open(null, 'Its time has come.')
  // The engine may be late, and the next hours have begun.
  if (opens && opens !== due) write({ ...gate, until: opens.toISOString() })
  const expires = timeoutMs === null ? null : new Date(since.getTime() + timeoutMs)
  if (expires && expires <= slice.now)
    return finish({ actor: 'CONTROLLER', code: 'GATE_EXPIRED', message: 'Nobody opened it in time.' })
  slice.setClock(node, opens && (!expires || opens < expires) ? opens : expires)
  return false
}
