import type { PhaseChange } from 'phaseline/client'
import { readChanges } from './changes-page.ts'
import { messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

/** The last changes of one object, refused ones too, then live ones. */
export class ObjectHistoryStore extends Store {
  changes: readonly PhaseChange[] = []
  loaded = false
  /** There are older changes, which are not read. */
  hasOlder = false
  error: string | null = null

  constructor({ client, feed }: Session, objectId: string, signal: AbortSignal) {
    super()
    readLive(
      feed,
      {
        read: async (reading) => {
          const { changes, before } = await readChanges(client, { objectId }, { signal: reading })
          this.changes = changes
          this.hasOlder = before !== null
          this.loaded = true
          this.error = null
          this.changed()
        },
        apply: (changes) => {
          const last = this.changes.at(-1)?.sequence ?? 0
          const news = changes.filter((change) => change.objectId === objectId && change.sequence > last)
          if (news.length === 0) return
          this.changes = [...this.changes, ...news]
          this.changed()
        },
        failed: (error) => {
          this.error = messageOf(error)
          this.changed()
        },
      },
      signal,
    )
  }
}
