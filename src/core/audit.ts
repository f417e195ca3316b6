import type { Right } from './rights.ts'

/** The audit as data: what an event says, and what it is about. */

export const AUDIT_OUTCOMES = ['DONE', 'REFUSED', 'FAILED'] as const
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

/** What a request is about, as far as is known. */
export interface AuditTarget {
  readonly projectId: string | null
  readonly projectName: string | null
  readonly objectId: string | null
  readonly objectKind: string | null
  readonly objectName: string | null
}

/** Who has done it, and from where. All of it is null for a token that is not known. */
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
  /** Names of what the request gave, never values. */
  readonly fields: readonly string[]
  /** How many equal ones of one second this is. */
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

/** An event that a mutation writes together with its change. */
export interface AuditedCall {
  readonly entry: Omit<AuditEntry, 'outcome' | 'code' | 'count'>
  readonly nextId: () => string
  /** Whether a transaction has taken it; otherwise it is written after the fact. */
  isWritten: boolean
}

/** The operation of a request with a token that is not valid. */
export const TOKEN_REFUSED = 'token.refused'

export const NO_TARGET: AuditTarget = {
  projectId: null,
  projectName: null,
  objectId: null,
  objectKind: null,
  objectName: null,
}

/** Whether the change itself is recorded. The log has what agents do; of them only refusals are. */
export const isAudited = ({ verb, roles }: Right): boolean =>
  verb !== 'read' && verb !== 'plan' && (roles ?? []).some((role) => role !== 'AGENT')

/** What the arguments of a field name. They are bounded before. */
export function targetOf({ kind }: Right, args: Readonly<Record<string, unknown>>): AuditTarget {
  const input = inputOf(args)
  const text = (key: string): string | null => (typeof input[key] === 'string' ? input[key] : null)
  const objectName = text('name')
  return {
    projectId: null,
    projectName: kind === 'PROJECT' ? objectName : text('project'),
    objectId: text('id') ?? text('principalId'),
    objectKind: kind,
    objectName,
  }
}

/** Names of the fields that were given. */
export const fieldsOf = (args: Readonly<Record<string, unknown>>): readonly string[] => {
  const input = inputOf(args)
  return Object.keys(input).filter((name) => input[name] !== undefined)
}

const inputOf = (args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  typeof args.input === 'object' && args.input !== null ? (args.input as Record<string, unknown>) : args
