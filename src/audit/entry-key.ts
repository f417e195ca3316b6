import type { AuditEntry } from '../core/audit.ts'

/** Entries with the same key differ in nothing but their request, and become one event with a count. */
export const keyOf = ({ count: _, requestId: __, ...same }: AuditEntry): string => JSON.stringify(same)
