import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { readIds, SELECT_LIMIT } from '../../data/bulk.ts'
import { BulkRun } from '../../data/bulk-run.ts'
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

/** Actions on the selected objects, and their progress. */
export function BulkBar({ list, selection, onSelect }: Props) {
  const { client } = useSession()
  const [asked, setAsked] = useState<Verb | null>(null)
  const [run, setRun] = useState<BulkRun | null>(null)
  useSyncExternalStore(run?.watch ?? watchNothing, run?.version ?? zero)
  useEffect(() => () => run?.stop(), [run])
  const busy = run !== null && !run.ended
  const start = (plan: BulkPlan): void => {
    setAsked(null)
    const next = new BulkRun(client, plan)
    setRun(next)
    onSelect(NONE)
    void next.run()
  }
  const chosen = selection.ids.size
  return (
    <>
      {chosen > 0 && (
        <section className="bulk" aria-label="What is selected">
          <b role="status">{chosen.toLocaleString('en')} selected</b>
          <button type="button" disabled={busy} onClick={() => setAsked('cancel')}>
            Cancel…
          </button>
          <button type="button" className="danger" disabled={busy} onClick={() => setAsked('delete')}>
            Delete…
          </button>
          {list?.loaded && <SelectAll list={list} chosen={chosen} onSelect={onSelect} />}
          <button type="button" className="plain" onClick={() => onSelect(NONE)}>
            Clear
          </button>
        </section>
      )}
      {run && <BulkProgress run={run} onClose={() => setRun(null)} onSelect={onSelect} />}
      {asked && <BulkDialog verb={asked} ids={[...selection.ids]} onConfirm={start} onClose={() => setAsked(null)} />}
    </>
  )
}
const watchNothing = (): (() => void) => () => undefined
const zero = (): number => 0

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
