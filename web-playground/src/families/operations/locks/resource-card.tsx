import { useState } from 'react'
import { plural } from '../../../model/words.ts'
import { Phase, Since } from '../../../ui/phase.tsx'
import { type Lock, modeWord, type Resource } from '../model/lock-queues.ts'
import { JobLink } from './job-link.tsx'

/** The most waiters that are shown. */
const FIRST = 10

/** One resource: its holders above the line, its waiters below, in order. */
export function ResourceCard({ resource }: { readonly resource: Resource }) {
  const { name, holders, queue } = resource
  const [all, setAll] = useState(false)
  const shown = all ? queue : queue.slice(0, FIRST)
  return (
    <section className="card resource" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span className="quiet">
          {queue.length > 0 ? `${plural(queue.length, 'job')} in the queue` : 'nobody waits'}
        </span>
      </header>
      <ul aria-label={`Holds ${name}`}>
        {holders.map((lock) => (
          <li key={lock.object?.id ?? lock.declaredAt} className="lock held">
            <span className="lock-sign" aria-hidden="true">
              ●
            </span>
            <Who lock={lock} word="holds it" since={lock.grantedAt ?? lock.declaredAt} />
          </li>
        ))}
        {holders.length === 0 && <li className="lock quiet">No holder that you may see.</li>}
      </ul>
      {queue.length > 0 && (
        <ol className="queue" aria-label={`Waits for ${name}`}>
          {shown.map((lock) => (
            <li key={lock.object?.id ?? lock.declaredAt} className="lock">
              <span className="lock-sign">{lock.position}.</span>
              <Who lock={lock} word="waits" since={lock.declaredAt} elsewhere={lock.behind === null} />
            </li>
          ))}
        </ol>
      )}
      {queue.length > shown.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show {(queue.length - shown.length).toLocaleString('en')} more
        </button>
      )}
    </section>
  )
}

interface WhoProps {
  readonly lock: Lock
  readonly word: string
  readonly since: string
  /** The job waits for another resource. */
  readonly elsewhere?: boolean
}
function Who({ lock, word, since, elsewhere = false }: WhoProps) {
  return (
    <div className="lock-who">
      <div>
        <JobLink object={lock.object} />
      </div>
      <div className="lock-how">
        {lock.object && <Phase phase={lock.object.phase} />} <span className="mode">{modeWord(lock.mode)}</span>{' '}
        <span className="quiet">
          {word} for <Since at={since} />
          {elsewhere && ', for another that it needs too'}
        </span>
      </div>
    </div>
  )
}
