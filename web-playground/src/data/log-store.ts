import { addChanges, EMPTY_LOG, type LogBuffer, pauseLog, resumeLog } from '../model/log-buffer.ts'
import { LOG_PAGE } from './documents.ts'
import { nodesOf } from './gql.ts'
import { messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

const FIRST = 300

/** The newest changes of the log, then live ones. */
export class LogStore extends Store {
  log: LogBuffer = EMPTY_LOG
  loaded = false
  error: string | null = null
  #last = 0

  constructor({ client, feed }: Session, signal: AbortSignal) {
    super()
    readLive(
      feed,
      {
        read: async (reading) => {
          const { phaseChanges } = await client.query(LOG_PAGE, { last: FIRST }, { signal: reading })
          const changes = nodesOf(phaseChanges)
          this.log = addChanges({ ...EMPTY_LOG, paused: false }, changes)
          this.#last = changes.at(-1)?.sequence ?? 0
          this.loaded = true
          this.error = null
          this.changed()
        },
        apply: (changes) => {
          const news = changes.filter(({ sequence }) => sequence > this.#last)
          this.#last = news.at(-1)?.sequence ?? this.#last
          this.log = addChanges(this.log, news)
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

  readonly pause = (): void => {
    this.log = pauseLog(this.log)
    this.changed()
  }
  readonly resume = (): void => {
    this.log = resumeLog(this.log)
    this.changed()
  }
}
