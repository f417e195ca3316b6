import { nodesOf } from 'phaseline/client-model'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { type BulkOperation, followBulk, targetIdsOf } from '../../data/bulk-operations.ts'
import { messageOf } from '../../data/live-read.ts'
import type { BulkOutcome } from '../../generated/documents.d.ts'
import { humanKind } from '../../model/known.ts'
import { type Selection, selectAll } from '../../model/selection.ts'
import { plural } from '../../model/words.ts'
import { treeHref } from '../../ui/links.ts'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Outcome, Problem } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'
import '../../styles/bulk.css'

interface Props {
  /** Bulk operations of one confirmation, shown together. */
  readonly ids: readonly string[]
  readonly onClose?: () => void
  readonly onSelect?: (selection: Selection) => void
}

/** Progress of bulk operations, and their refusals with the reasons. */
export function BulkProgress({ ids, onClose, onSelect }: Props) {
  const { client } = useSession()
  const store = useLive(ids.join(), (session, signal) => followBulk(session, ids, signal))
  const { busy, result, ask } = useAct(() => store?.refresh())
  const section = useRef<HTMLElement>(null)
  const isOwn = onClose !== undefined
  // The button that had the focus is gone with the selection.
  useEffect(() => {
    if (isOwn) section.current?.focus()
  }, [isOwn])
  const bulk = store?.answer ?? []
  const counts = summed(bulk)
  const isEnded = bulk.length > 0 && bulk.every(({ finished }) => finished)
  const refused = bulk.flatMap(({ outcomes }) => nodesOf(outcomes))
  const refusals = counts.refused + counts.forbidden
  const stop = async (): Promise<void> => {
    for (const { id, finished } of bulk)
      if (!finished)
        await ask({ field: 'cancelBulkOperation', input: 'CancelBulkOperationInput', done: '', variables: { id } })
  }
  const [problem, setProblem] = useState<string | null>(null)
  const select = (only: readonly BulkOutcome[]): void => {
    setProblem(null)
    targetIdsOf(client, ids, only).then(
      (found) => onSelect?.(selectAll(found)),
      (error: unknown) => setProblem(messageOf(error)),
    )
  }
  const mayStop = bulk.some(({ verbs }) => verbs.some(({ name, allowed }) => name === 'cancel' && allowed))
  return (
    <section ref={section} tabIndex={-1} className="bulk-run card" aria-label="Progress of the bulk operation">
      <div className="bulk">
        <b role="status">{store?.answer ? said(counts, isEnded) : 'It begins.'}</b>
        {!isEnded && <progress value={counts.all - counts.waiting} max={counts.all || 1} aria-label="Decided" />}
        {isOwn && mayStop && (
          <button type="button" disabled={busy} onClick={() => void stop()}>
            Stop
          </button>
        )}
        {isEnded && onSelect && refusals > 0 && (
          <button type="button" onClick={() => select(['REFUSED', 'FORBIDDEN'])}>
            Select the refused
          </button>
        )}
        {isEnded && onSelect && counts.cancelled > 0 && (
          <button type="button" onClick={() => select(['CANCELLED'])}>
            Select the rest
          </button>
        )}
        {isOwn &&
          bulk.map(({ id, project }) => (
            <Link key={id} href={treeHref(id)}>
              {bulk.length > 1 ? `Operation in ${project.name}` : 'Its page'}
            </Link>
          ))}
        {!isEnded && isOwn && <span className="quiet">It runs on when you leave this page.</span>}
        {isEnded && isOwn && (
          <button type="button" className="plain" onClick={onClose}>
            Close
          </button>
        )}
      </div>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {problem !== null && <Problem message={problem} />}
      {result && !result.ok && <Outcome result={result} />}
      {refusals > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <ul className="bulk-refusals" aria-label="Refused" tabIndex={0}>
          {refused.map(({ targetId, targetKind, targetName, code, message, object }) => (
            <li key={targetId}>
              {object ? <Link href={treeHref(object.root.id, targetId)}>{targetName}</Link> : targetName}{' '}
              <span className="quiet">{targetKind && humanKind(targetKind)}</span> {code}: {message}
            </li>
          ))}
          {refusals > refused.length && (
            <li className="quiet">and {plural(refusals - refused.length, 'more refusal')}</li>
          )}
        </ul>
      )}
    </section>
  )
}

type Counts = BulkOperation['counts']
const summed = (bulk: readonly BulkOperation[]): Counts => {
  const sum = (outcome: keyof Counts) => bulk.reduce((all, { counts }) => all + counts[outcome], 0)
  return {
    all: sum('all'),
    waiting: sum('waiting'),
    done: sum('done'),
    unchanged: sum('unchanged'),
    refused: sum('refused'),
    forbidden: sum('forbidden'),
    gone: sum('gone'),
    cancelled: sum('cancelled'),
  }
}

/** DONE is an accepted request: a deletion takes time. */
function said(
  { all, waiting, done, unchanged, refused, forbidden, gone, cancelled }: Counts,
  isEnded: boolean,
): string {
  const number = (count: number): string => count.toLocaleString('en')
  const parts = [
    isEnded
      ? `${number(done)} of ${plural(all, 'object')} asked for`
      : `${number(all - waiting)} of ${number(all)} decided`,
    ...(unchanged > 0 ? [`${number(unchanged)} had ended by themselves`] : []),
    ...(refused + forbidden > 0 ? [`${number(refused + forbidden)} refused`] : []),
    ...(gone > 0 ? [`${number(gone)} gone`] : []),
    ...(cancelled > 0 ? [`${number(cancelled)} left as they are, since it was stopped`] : []),
  ]
  return `${parts.join(', ')}.`
}
