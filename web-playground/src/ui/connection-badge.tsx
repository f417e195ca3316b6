import { useSyncExternalStore } from 'react'
import type { Connection } from '../model/connection.ts'
import { duration, plural } from '../model/words.ts'
import { useNow } from './now.ts'
import { useSession } from './session-context.ts'

/** Milliseconds for which the badge says what was caught up. */
const SAID_MS = 20_000

/** Shows whether the page is up to date. */
export function ConnectionBadge() {
  const { feed } = useSession()
  const connection = useSyncExternalStore(feed.watch, feed.connection)
  const now = useNow()
  const { look, text, moving = '' } = describe(connection, now)
  return (
    <span
      className={`connection ${look}`}
      role="status"
      aria-live="polite"
      data-connection={connection.kind}
      title={`${text}${moving}`}
    >
      <span className="dot" aria-hidden="true" /> {text}
      {/* A screen reader does not say each second. */}
      <span aria-live="off">{moving}</span>
    </span>
  )
}

interface Described {
  readonly look: string
  readonly text: string
  /** The end of the text, which changes while the connection is as it is. */
  readonly moving?: string
}
function describe(connection: Connection, now: number): Described {
  switch (connection.kind) {
    case 'connecting':
      return { look: 'waits', text: 'Connecting…' }
    case 'lost':
      return { look: 'lost', text: 'Disconnected, reconnecting…', moving: ` for ${duration(now - connection.since)}` }
    case 'catching-up':
      return { look: 'waits', text: 'Catching up…', moving: ` ${plural(connection.count, 'change')}` }
    case 'refused':
      return { look: 'lost', text: 'The token was refused' }
    case 'live': {
      const { caughtUp } = connection
      if (!caughtUp || now - caughtUp.at > SAID_MS) return { look: 'live', text: 'Live' }
      const away = duration(caughtUp.awayMs)
      return {
        look: 'live',
        text: `Live: caught up ${plural(caughtUp.changes, 'change')} after ${away}, none missed`,
      }
    }
    default:
      return connection satisfies never
  }
}
