import { finalText } from 'phaseline/client-model'
import type { Details } from '../../data/details-store.ts'
import { duration } from '../../model/words.ts'
import { Since, Until } from '../../ui/phase.tsx'

type Attempt = NonNullable<Details['attempts']>[number]

/** The attempts of work that has a retry policy: how each ended, which one runs, and when the next one begins. */
export function PanelAttempts({ details: { attempts = [], maxAttempts } }: { readonly details: Details }) {
  // A first attempt alone says nothing that the phase does not.
  if (attempts.length < 2 && !attempts.some(({ error }) => error)) return null
  return (
    <section aria-label="Attempts">
      <h3>Attempts</h3>
      <ol>
        {attempts.map((attempt) => (
          <li key={attempt.number}>
            {attempt.number} of {maxAttempts}, <Course attempt={attempt} />
          </li>
        ))}
      </ol>
    </section>
  )
}

function Course({ attempt }: { readonly attempt: Attempt }) {
  const { agent, begunAt, endedAt, notBefore, error } = attempt
  const final = finalText(attempt)
  if (begunAt === null || begunAt === undefined) return notBefore ? <Until at={notBefore} /> : <>next</>
  const by = agent && <span className="quiet"> by {agent}</span>
  if (!endedAt)
    return (
      <>
        running for <Since at={begunAt} />
        {by}
      </>
    )
  return (
    <>
      {error ? 'failed' : 'succeeded'} after {duration(Date.parse(endedAt) - Date.parse(begunAt))}
      {by}
      {final && `, ${final}`}
      {error && (
        <>
          {': '}
          <b>{error.code}</b>, {error.message}
        </>
      )}
    </>
  )
}
