import { useEffect, useRef, useState } from 'react'
import { readIds, SELECT_LIMIT } from '../../data/bulk.ts'
import { type Started, startBulk } from '../../data/bulk-operations.ts'
import type { ListStore } from '../../data/list-store.ts'
import { messageOf } from '../../data/live-read.ts'
import type { BulkPlan, Verb } from '../../model/bulk.ts'
import { NONE, type Selection, selectAll } from '../../model/selection.ts'
import { plural } from '../../model/words.ts'
import { useSession } from '../../ui/session-context.ts'
import { Problem } from '../../ui/states.tsx'
import { BulkDialog } from './bulk-dialog.tsx'
import { BulkProgress } from './bulk-progress.tsx'

interface Props {
  readonly list: ListStore | null
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
}

const VERBS: readonly (readonly [Verb, string])[] = [
  ['pause', 'Pause'],
  ['resume', 'Resume'],
  ['cancel', 'Cancel'],
  ['delete', 'Delete'],
]

/** Verbs for the selected objects, and the progress of the bulk operation that asks them. */
export default function BulkBar({ list, selection, onSelect }: Props) {
  const { client } = useSession()
  const [asked, setAsked] = useState<Verb | null>(null)
  const [busy, setBusy] = useState(false)
  const [started, setStarted] = useState<Started | null>(null)
  const start = async (plan: BulkPlan): Promise<void> => {
    setAsked(null)
    setBusy(true)
    const next = await startBulk(client, plan)
    setBusy(false)
    setStarted(next)
    if (next.ids.length > 0) onSelect(NONE)
  }
  const chosen = selection.ids.size
  return (
    <>
      {chosen > 0 && (
        <section className="bulk" aria-label="What is selected">
          <b role="status">{chosen.toLocaleString('en')} selected</b>
          {VERBS.map(([verb, label]) => (
            <button
              key={verb}
              type="button"
              className={verb === 'delete' ? 'danger' : undefined}
              disabled={busy}
              onClick={() => setAsked(verb)}
            >
              {label}…
            </button>
          ))}
          {list?.loaded && <SelectAll list={list} chosen={chosen} onSelect={onSelect} />}
          <button type="button" className="plain" onClick={() => onSelect(NONE)}>
            Clear
          </button>
        </section>
      )}
      {started?.refused.map((message) => (
        <Problem key={message} message={message} />
      ))}
      {started && started.ids.length > 0 && (
        <BulkProgress key={started.ids.join()} ids={started.ids} onClose={() => setStarted(null)} onSelect={onSelect} />
      )}
      {asked && (
        <BulkDialog
          verb={asked}
          ids={[...selection.ids]}
          onConfirm={(plan) => void start(plan)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  )
}

interface SelectAllProps extends Pick<Props, 'onSelect'> {
  readonly list: ListStore
  readonly chosen: number
}
/** Selects all matching objects, also those beyond the loaded pages. */
function SelectAll({ list, chosen, onSelect }: SelectAllProps) {
  const { client } = useSession()
  const [state, setState] = useState<'idle' | 'reading' | { readonly error: string }>('idle')
  const stop = useRef<AbortController | null>(null)
  useEffect(() => () => stop.current?.abort(), [])
  const { rows, complete, total, filter } = list
  const count = complete ? rows.length : Math.max(total ?? 0, rows.length)
  if (chosen >= Math.min(count, SELECT_LIMIT) && state === 'idle') return null
  const read = async (): Promise<void> => {
    if (complete) return onSelect(selectAll(rows.slice(0, SELECT_LIMIT).map(({ id }) => id)))
    stop.current = new AbortController()
    const { signal } = stop.current
    setState('reading')
    try {
      const ids = await readIds(client, filter, signal)
      if (signal.aborted) return
      setState('idle')
      onSelect(selectAll(ids))
    } catch (error) {
      if (!signal.aborted) setState({ error: messageOf(error) })
    }
  }
  return (
    <>
      <button type="button" disabled={state === 'reading'} onClick={() => void read()}>
        {count > SELECT_LIMIT
          ? `Select the first ${SELECT_LIMIT.toLocaleString('en')} of ${count.toLocaleString('en')}`
          : `Select all ${plural(count, 'object')} that match`}
      </button>
      {typeof state === 'object' && <Problem message={state.error} onRetry={() => void read()} />}
    </>
  )
}
