import { useEffect, useState } from 'react'
import { readPlan } from '../../data/bulk.ts'
import { messageOf } from '../../data/live-read.ts'
import { type BulkPlan, countedKinds, DONE_WORDS, firstNames, type Verb } from '../../model/bulk.ts'
import { plural } from '../../model/words.ts'
import { useSession } from '../../ui/session-context.ts'
import { Loading, Problem } from '../../ui/states.tsx'
import { useModal } from '../../ui/use-modal.ts'

interface Props {
  readonly verb: Verb
  readonly ids: readonly string[]
  readonly onConfirm: (plan: BulkPlan) => void
  readonly onClose: () => void
}
const LABELS: Readonly<Record<Verb, string>> = { cancel: 'Cancel', delete: 'Delete', pause: 'Pause', resume: 'Resume' }
const MEANS: Readonly<Record<Verb, string>> = {
  cancel: 'Nothing new starts, and what is running below them is stopped.',
  delete: 'Everything below them goes with them. This cannot be undone.',
  pause: 'Running work below them continues, and nothing begins until they are resumed.',
  resume: 'Waiting work begins.',
}

/** Lists exactly the objects that an action will affect, as they are now, and requests confirmation. */
export function BulkDialog({ verb, ids, onConfirm, onClose }: Props) {
  const { client } = useSession()
  const modal = useModal(onClose)
  const [plan, setPlan] = useState<BulkPlan | { readonly error: string } | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the confirmation is for the selection at opening
  useEffect(() => {
    const stop = new AbortController()
    readPlan(client, verb, ids, stop.signal).then(setPlan, (error: unknown) => {
      if (!stop.signal.aborted) setPlan({ error: messageOf(error) })
    })
    return () => stop.abort()
  }, [])
  const ready = plan !== null && 'targets' in plan ? plan : null
  const count = ready?.targets.length ?? 0
  return (
    <dialog {...modal} className="bulk-dialog" aria-labelledby="bulk-title">
      <h2 id="bulk-title">
        {ready
          ? count > 0
            ? `${LABELS[verb]} ${plural(count, 'object')}?`
            : `None of them can be ${DONE_WORDS[verb]}`
          : `${LABELS[verb]} what is selected?`}
      </h2>
      {plan === null && <Loading what={plural(ids.length, 'object')} />}
      {plan !== null && 'error' in plan && <Problem message={plan.error} />}
      {ready && <Plan plan={ready} />}
      <div className="actions">
        {ready && count > 0 && (
          <button type="button" className={verb === 'delete' ? 'danger' : 'primary'} onClick={() => onConfirm(ready)}>
            {LABELS[verb]} {plural(count, 'object')}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {ready && count === 0 ? 'Close' : 'Leave them as they are'}
        </button>
      </div>
    </dialog>
  )
}

function Plan({ plan: { verb, targets, leftOut, gone } }: { readonly plan: BulkPlan }) {
  return (
    <>
      {targets.length > 0 && (
        <p>
          <b>{countedKinds(targets)}</b> will be {DONE_WORDS[verb]}: {firstNames(targets.map(({ name }) => name))}.{' '}
          {MEANS[verb]}
        </p>
      )}
      {(leftOut.length > 0 || gone > 0) && (
        <section aria-label="Left out">
          <h3>Left out</h3>
          <ul className="bulk-left">
            {leftOut.map(({ reason, names }) => (
              <li key={reason}>
                <b>{names.length.toLocaleString('en')}</b> {reason}{' '}
                <span className="quiet">({firstNames(names, 3)})</span>
              </li>
            ))}
            {gone > 0 && (
              <li>
                <b>{gone.toLocaleString('en')}</b> not there any more
              </li>
            )}
          </ul>
        </section>
      )}
    </>
  )
}
