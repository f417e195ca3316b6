import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import type { BulkRun } from '../../data/bulk-run.ts'
import type { Verb } from '../../model/bulk.ts'
import { humanKind } from '../../model/known.ts'
import { type Selection, selectAll } from '../../model/selection.ts'
import { plural } from '../../model/words.ts'
import { treeHref } from '../../ui/links.ts'

interface Props {
  readonly run: BulkRun
  readonly onClose: () => void
  readonly onSelect: (selection: Selection) => void
}
const NOUNS: Readonly<Record<Verb, string>> = { cancel: 'cancellation', delete: 'deletion' }
/** The most refusals that are listed; more are counted, and can be selected. */
const LISTED = 200

/** Progress of a bulk action, and its refusals with their reasons. */
export function BulkProgress({ run, onClose, onSelect }: Props) {
  const { plan, done, refusals, ended, untried } = run
  const all = plan.steps.length
  const section = useRef<HTMLElement>(null)
  // The button that had the focus is gone with the selection.
  useEffect(() => section.current?.focus(), [])
  return (
    <section ref={section} tabIndex={-1} className="bulk-run card" aria-label={`How far the ${NOUNS[plan.verb]} is`}>
      <div className="bulk">
        <b role="status">
          {ended
            ? said(run)
            : `${(done + refusals.length).toLocaleString('en')} of ${all.toLocaleString('en')} asked for`}
        </b>
        {!ended && <progress value={done + refusals.length} max={all} aria-label="Asked for" />}
        {!ended && refusals.length > 0 && (
          <span className="bulk-refused">✗ {refusals.length.toLocaleString('en')} refused</span>
        )}
        {!ended && (
          <button type="button" onClick={run.stop}>
            Stop
          </button>
        )}
        {!ended && <span className="quiet">It stops when you leave this page.</span>}
        {ended && refusals.length > 0 && (
          <button type="button" onClick={() => onSelect(selectAll(refusals.map(({ target }) => target.id)))}>
            Select the refused
          </button>
        )}
        {ended && untried > 0 && (
          <button type="button" onClick={() => onSelect(selectAll(untriedOf(run)))}>
            Select the rest
          </button>
        )}
        {ended && (
          <button type="button" className="plain" onClick={onClose}>
            Close
          </button>
        )}
      </div>
      {refusals.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <ul className="bulk-refusals" aria-label="Refused" tabIndex={0}>
          {refusals.slice(0, LISTED).map(({ target, message }) => (
            <li key={target.id}>
              <Link href={treeHref(target.root.id, target.id)}>{target.name}</Link>{' '}
              <span className="quiet">{humanKind(target.kind)}</span> {message}
            </li>
          ))}
          {refusals.length > LISTED && (
            <li className="quiet">and {plural(refusals.length - LISTED, 'more refusal')}</li>
          )}
        </ul>
      )}
    </section>
  )
}

/** A deletion takes time: the text says that it was requested. */
function said({ plan, done, refusals, untried }: BulkRun): string {
  const parts = [
    `${plural(done, NOUNS[plan.verb])} asked for`,
    ...(refusals.length > 0 ? [`${refusals.length.toLocaleString('en')} refused`] : []),
    ...(untried > 0 ? [`${untried.toLocaleString('en')} left as they are, since it was stopped`] : []),
  ]
  return `${parts.join(', ')}.`
}

/** Steps begin in order, so the begun ones are the first. */
const untriedOf = ({ plan, untried }: BulkRun): readonly string[] =>
  untried === 0 ? [] : plan.steps.slice(-untried).map(({ target }) => target.id)
