import type { AuditPort } from '../core/ports/audit.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { Writes } from '../store/write-watch.ts'
import { AuditChainer } from './chainer.ts'
import { AuditFeed } from './feed.ts'
import { AuditNotes, type NotesParts } from './notes.ts'
import { SeldomNotes } from './seldom-notes.ts'

export interface Audit extends AuditPort, AsyncDisposable {}

interface AuditParts extends Omit<NotesParts, 'onWritten'> {
  readonly signal: Signal
  readonly writes?: Writes
}

/** The audit of this process. */
export function createAudit(parts: AuditParts): Audit {
  const feed = new AuditFeed(parts)
  const chainer = new AuditChainer({
    ...parts,
    onChained: (head) => feed.chained(head),
    isFollowed: () => feed.isFollowed,
  })
  const notes = new AuditNotes({ ...parts, onWritten: () => chainer.soon() })
  const seldom = new SeldomNotes((entry) => notes.note(entry))
  // Nobody writes events that come later.
  let isOpen = true
  return {
    noteThrottled: (entry) => void (isOpen && seldom.note(entry)),
    note: (entry) => void (isOpen && notes.note(entry)),
    committed: () => void (isOpen && chainer.soon()),
    async settle() {
      await notes.flush()
      await chainer.chain()
    },
    follow: (filter, after, signal) => feed.follow(filter, after, signal),
    async [Symbol.asyncDispose]() {
      isOpen = false
      seldom[Symbol.dispose]()
      await notes[Symbol.asyncDispose]()
      await chainer[Symbol.asyncDispose]()
      await feed[Symbol.asyncDispose]()
    },
  }
}
