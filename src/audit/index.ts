import type { AuditPort } from '../core/ports/audit.ts'
import { AuditChainer } from './chainer.ts'
import { AuditNotes, type NotesParts } from './notes.ts'

export interface Audit extends AuditPort, AsyncDisposable {}

/** The audit of this process. */
export function createAudit(parts: NotesParts): Audit {
  const notes = new AuditNotes(parts)
  const chainer = new AuditChainer(parts)
  return {
    note: (entry) => notes.note(entry),
    async settle() {
      await notes.flush()
      await chainer.chain()
    },
    async [Symbol.asyncDispose]() {
      await chainer[Symbol.asyncDispose]()
      await notes[Symbol.asyncDispose]()
    },
  }
}
