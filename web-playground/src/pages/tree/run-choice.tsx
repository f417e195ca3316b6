import { useState } from 'react'
import { Link } from 'wouter'
import { type Run, runsOf } from '../../data/runs.ts'
import type { TreePlace } from '../../model/tree-place.ts'
import { shortDateTime } from '../../ui/exact-time.ts'
import { placeHref } from '../../ui/links.ts'
import { useLive } from '../../ui/session-context.ts'

interface Props {
  readonly rootId: string
  readonly place: TreePlace
}

/** Two runs of a root to compare: at first the last two. */
export function RunChoice({ rootId, place }: Props) {
  const store = useLive(rootId, (session, signal) => runsOf(session, rootId, signal))
  const [chosen, setChosen] = useState<readonly [number, number] | null>(null)
  // The address has changed, also by the way back: it says what is compared.
  const shown = place.runs?.join()
  const [over, setOver] = useState(shown)
  if (over !== shown) {
    setOver(shown)
    setChosen(null)
  }
  const newest = store?.answer?.newest ?? []
  const [last, before] = newest
  if (!last || !before) return null
  const [a, b] = chosen ?? place.runs ?? [before.number, last.number]
  return (
    <div className="run-choice">
      <RunSelect label="Run" value={a} runs={newest} onChange={(number) => setChosen([number, b])} />
      <RunSelect label="with run" value={b} runs={newest} onChange={(number) => setChosen([a, number])} />
      <Link
        className="button"
        href={placeHref(rootId, { ...place, since: '', runs: [a, b] })}
        aria-current={place.runs?.join() === `${a},${b}` ? 'page' : undefined}
      >
        Compare
      </Link>
    </div>
  )
}

interface SelectProps {
  readonly label: string
  readonly value: number
  readonly runs: readonly Run[]
  readonly onChange: (number: number) => void
}
function RunSelect({ label, value, runs, onChange }: SelectProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={({ target }) => onChange(Number(target.value))}>
        {!runs.some(({ number }) => number === value) && <option value={value}>{value}</option>}
        {runs.map(({ number, phase, startedAt }) => (
          <option key={number} value={number}>
            {number}: {phase ?? 'running'}, {shortDateTime(startedAt)}
          </option>
        ))}
      </select>
    </label>
  )
}
