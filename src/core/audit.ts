import type { Right } from './rights.ts'

/** The audit as data: what an event says, and what it is about. */

export const AUDIT_OUTCOMES = ['DONE', 'REFUSED', 'FAILED'] as const
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

/** The subject of a request, as far as it is known. */
export interface AuditTarget {
  readonly projectId: string | null
  readonly projectName: string | null
  readonly objectId: string | null
  readonly objectKind: string | null
  readonly objectName: string | null
}

/** The caller, and where the request came from. All fields are null for an unknown token. */
export interface AuditCaller {
  readonly principalId: string | null
  readonly principalName: string | null
  readonly tokenId: string | null
  readonly actor: string | null
  /** The group of addresses that the request came from. */
  readonly address: string | null
  readonly requestId: string | null
}

export interface AuditEntry extends AuditCaller, AuditTarget {
  /** The field of the API, or what happened before one was reached. */
  readonly operation: string
  readonly outcome: AuditOutcome
  /** Why it was refused. */
  readonly code: string | null
  /** Names of what the request gave or got, never values. */
  readonly fields: readonly string[]
  /** Number of equal events that this one stands for. */
  readonly count: number
}

/** An event with its place in the chain. */
export interface ChainedEvent extends AuditEntry {
  readonly id: string
  readonly at: Date
  readonly sequence: number
}

/** A place in the chain; 0 and no hash before the first event. */
export interface ChainEnd {
  readonly sequence: number
  readonly hash: Buffer
}

/**
 * A position to resume from: a sequence, and the start of the hash of the event there. A null hash matches any event of
 * that sequence.
 */
export interface AuditCursor {
  readonly sequence: number
  /** Hexadecimal digits. */
  readonly hash: string | null
}

/** 64 bits distinguish the events that two copies of one audit have at the same sequence. */
const CURSOR_DIGITS = 16
export const cursorAt = ({ sequence, hash }: ChainEnd): AuditCursor => ({
  sequence,
  hash: hash.toString('hex').slice(0, CURSOR_DIGITS),
})

export const encodeAuditCursor = ({ sequence, hash }: AuditCursor): string =>
  hash ? `${sequence}:${hash}` : String(sequence)

/** Also reads a numeral, and the head that a check of the chain prints. Undefined: it is not a cursor. */
export function decodeAuditCursor(text: string): AuditCursor | undefined {
  const [, sequence, hash = null] = /^(0|[1-9]\d{0,14})(?::([\da-f]{16,64}))?$/.exec(text) ?? []
  return sequence === undefined ? undefined : { sequence: Number(sequence), hash }
}

export const isAtCursor = ({ sequence, hash }: ChainEnd, cursor: AuditCursor): boolean =>
  sequence === cursor.sequence && hash.toString('hex').startsWith(cursor.hash ?? '')

export interface AuditFilter {
  /** Ids of the projects whose events may be read; null: all events. */
  readonly projects: readonly string[] | null
  readonly principalId: string | null
  readonly tokenId: string | null
  readonly operation: string | null
  readonly project: string | null
  readonly objectId: string | null
  readonly outcome: AuditOutcome | null
  readonly since: Date | null
  readonly until: Date | null
}

/** The same as the condition of the statements that list events. */
export function matchesFilter(event: AuditEntry & { readonly at: Date }, filter: AuditFilter): boolean {
  const { projects, project, since, until, ...same } = filter
  if (projects && !(event.projectId !== null && projects.includes(event.projectId))) return false
  if (project !== null && event.projectName !== project) return false
  if ((since && event.at < since) || (until && event.at >= until)) return false
  return SAME.every((field) => same[field] === null || same[field] === event[field])
}
const SAME = ['principalId', 'tokenId', 'operation', 'objectId', 'outcome'] as const

/** An event that a mutation writes together with its change. */
export interface AuditedCall {
  readonly entry: Omit<AuditEntry, 'outcome' | 'code' | 'count'>
  readonly nextId: () => string
  /** True once a transaction has written it; otherwise it is written afterwards. */
  isWritten: boolean
}

// Operations of what is no field of the API.
/** A request had a token that is not valid. */
export const TOKEN_REFUSED = 'token.refused'

/** A WebSocket was opened, with a token that is valid. */
export const SESSION_OPENED = 'session.opened'
/** A start has made a token of the setting PHASELINE_TOKEN valid, the administrator's or that of a built-in agent. */
export const TOKEN_CONFIGURED = 'token.configured'
/** A start has revoked the token of an earlier setting, with those that were derived from it. */
export const TOKEN_REPLACED = 'token.replaced'

export const NO_TARGET: AuditTarget = {
  projectId: null,
  projectName: null,
  objectId: null,
  objectKind: null,
  objectName: null,
}

export const NO_CALLER: AuditCaller = {
  ...{ principalId: null, principalName: null, tokenId: null, actor: null, address: null, requestId: null },
}

/** True if the change itself is recorded. The log already records what agents do; only their refusals are audited. */
export const isAudited = ({ verb, roles }: Right): boolean =>
  verb !== 'read' && verb !== 'plan' && (roles ?? []).some((role) => role !== 'AGENT')

/** The target named by the arguments of a field, which are bounded before. */
export function targetOf({ kind, verb }: Right, args: Readonly<Record<string, unknown>>): AuditTarget {
  const input = inputOf(args)
  const text = (key: string): string | null => (typeof input[key] === 'string' ? input[key] : null)
  // A signal has a name, too, which is not that of the object.
  const objectName = verb === 'signal' ? null : text('name')
  return {
    projectId: null,
    projectName: kind === 'PROJECT' ? objectName : (text('project') ?? onlyProjectOf(input)),
    objectId: text('id') ?? text('principalId'),
    objectKind: kind,
    objectName,
  }
}

/** The one project to which a principal or a token is to be limited; null: none, or several. */
function onlyProjectOf({ projects, grants }: Readonly<Record<string, unknown>>): string | null {
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
  const granted = list(grants).map((grant) => (grant as { readonly project?: unknown } | null)?.project)
  const [only, ...others] = new Set([...list(projects), ...granted])
  return typeof only === 'string' && others.length === 0 ? only : null
}

/** Names of the fields that were given. */
export const fieldsOf = (args: Readonly<Record<string, unknown>>): readonly string[] => {
  const input = inputOf(args)
  return Object.keys(input).filter((name) => input[name] !== undefined)
}

const inputOf = (args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  typeof args.input === 'object' && args.input !== null ? (args.input as Record<string, unknown>) : args
