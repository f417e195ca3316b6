import type { AuditEntry } from '../audit.ts'

/** The audit, for what is written in no transaction, and for its readers. */
export interface AuditPort {
  /** Takes an entry of what has written nothing. Cheap, never throws; equal ones of a second become one event. */
  note(entry: AuditEntry): void
  /** Resolves when everything that was noted or committed before has its place in the chain. */
  settle(): Promise<void>
}
