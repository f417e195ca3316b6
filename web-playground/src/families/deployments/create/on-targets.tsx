import { linesOfChange, type Outcome, refused, type TargetChange, titleOfChange } from 'phaseline/client-model'
import { useEffect, useState } from 'react'
import { messageOf } from '../../../data/live-read.ts'
import { plural } from '../../../model/words.ts'
import { RefusalNote } from '../../../pages/create/refusal-note.tsx'
import { useSession } from '../../../ui/session-context.ts'
import { type DryRun, dryRunInstallation } from '../data.ts'
import { actionOf } from '../model/plan.ts'

interface Props {
  /** Input of the plan that is shown, as JSON. */
  readonly input: string
}
type Item = DryRun['items'][number]

/** Asks the agents what would change at the targets, once somebody wants to know: it uses their credentials. */
export function OnTargets({ input }: Props) {
  const { client } = useSession()
  /** A new one for each click. */
  const [asked, setAsked] = useState<{ readonly input: string } | null>(null)
  const [dryRun, setDryRun] = useState<DryRun | null>(null)
  const [outcome, setOutcome] = useState<Outcome<DryRun | null> | null>(null)
  useEffect(() => {
    if (asked === null) return
    const stop = new AbortController()
    const { signal } = stop
    setDryRun(null)
    setOutcome(null)
    dryRunInstallation(client, JSON.parse(asked.input), { signal, onRead: setDryRun }).then(
      (result) => signal.aborted || setOutcome(result),
      (error: unknown) => signal.aborted || setOutcome(refused({ code: 'NO_ANSWER', message: messageOf(error) })),
    )
    return () => stop.abort()
  }, [client, asked])
  const isCurrent = asked?.input === input
  const isOpen = isCurrent && outcome === null
  return (
    <section className="on-targets" aria-labelledby="on-targets-title">
      <h3 id="on-targets-title">On the targets</h3>
      {!isCurrent && (
        <p className="quiet">Agents can say what would change there, field by field. Nothing is changed.</p>
      )}
      <button type="button" disabled={isOpen} onClick={() => setAsked({ input })}>
        {isOpen ? 'Asking the targets…' : 'Ask the targets'}
      </button>
      {isCurrent && outcome?.ok === false && <RefusalNote refused={outcome.refusal} fields={[]} />}
      {isCurrent && outcome?.ok && outcome.value === null && <p className="wrong">The answer is gone. Ask again.</p>}
      {isCurrent && dryRun && <Items items={dryRun.items} />}
    </section>
  )
}

function Items({ items }: { readonly items: readonly Item[] }) {
  if (items.length === 0) return <p role="status">No deploy item would be called.</p>
  return (
    <ul className="target-items" aria-live="polite">
      {items.map((item) => (
        <li key={item.path.join('/')}>
          <b title={item.path.join(' / ')}>{item.path.at(-1)}</b>{' '}
          <span className="quiet">
            {item.type}
            {item.target !== null && ` at ${item.target}`}
          </span>
          <Answer item={item} />
        </li>
      ))}
    </ul>
  )
}

/** States that say why there are no changes. */
const WORDS: Readonly<Partial<Record<Item['state'], string>>> = {
  OFFERED: 'Waits for its agent.',
  CLAIMED: 'Its agent asks the target.',
}

function Answer({ item: { state, code, message, changes, truncated } }: { readonly item: Item }) {
  if (state === 'FAILED' || state === 'EXPIRED')
    return (
      <p className="wrong">
        {code !== null && <b className="reason">{code}</b>} {message}
      </p>
    )
  if (state !== 'PLANNED') return <p className="quiet">{message ?? WORDS[state]}</p>
  const changed = changes.filter(({ action }) => action !== 'UNCHANGED')
  const same = changes.length - changed.length
  return (
    <>
      {changed.map((change) => (
        <Change key={`${change.group} ${titleOfChange(change)}`} change={change} />
      ))}
      {changed.length === 0 && <p className="quiet">Nothing changes.</p>}
      {changed.length > 0 && same > 0 && <p className="quiet">{plural(same, 'object')} unchanged.</p>}
      {truncated && <p className="quiet">More is left out, since it is too long.</p>}
    </>
  )
}

function Change({ change }: { readonly change: TargetChange }) {
  const { symbol, word, look } = actionOf(change.action)
  const lines = linesOfChange(change)
  return (
    <details open={lines.length > 0 && lines.length <= SHORT}>
      <summary>
        <span className={`phase is-${look.toLowerCase()}`}>
          <span aria-hidden="true">{symbol}</span> {word}
        </span>{' '}
        {titleOfChange(change)}
        {change.reason !== null && <span className="quiet">: {change.reason}</span>}
      </summary>
      {lines.length > 0 && (
        <pre className="diff">
          {lines.map((line, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines repeat, and never move
            <span key={i} className={LOOKS[line.charAt(0)]}>
              {line}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
    </details>
  )
}
/** Longer diffs are opened by hand, in lines. */
const SHORT = 30
const LOOKS: Readonly<Record<string, string>> = { '+': 'is-added', '-': 'is-removed' }
