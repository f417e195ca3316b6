import { type FormEvent, useState } from 'react'
import type { useAct } from '../../ui/use-act.ts'
import { shownKey } from './words.ts'

const HOURS = [1, 4, 24, 24 * 7]
const HOUR_MS = 60 * 60 * 1_000

interface Props {
  readonly id: string
  /** Keys that are in use. */
  readonly keys: readonly string[]
  readonly busy: boolean
  readonly ask: ReturnType<typeof useAct>['ask']
}
/** Gives a key another bound for a time, or ends that. */
export function OverrideForm({ id, keys, busy, ask }: Props) {
  const [key, setKey] = useState('')
  const [max, setMax] = useState('')
  const [hours, setHours] = useState(1)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const bounds = max === '' ? {} : { maxPerKey: Number(max), ttlMs: hours * HOUR_MS }
    const done = max === '' ? `${shownKey(key)} has the bounds of the limit.` : `${shownKey(key)} has another bound.`
    void ask({ field: 'overrideLimit', input: 'OverrideLimitInput', done, variables: { id, key, ...bounds } })
  }
  return (
    <form className="card" aria-label="Override" onSubmit={submit}>
      <h2>Override</h2>
      <p className="quiet">
        Another bound of a key for a time; 0: nothing starts with it. Left empty, its override ends.
      </p>
      <div className="actions">
        <label>
          Key <input value={key} list="limit-keys" onChange={({ target }) => setKey(target.value)} />
        </label>
        <datalist id="limit-keys">
          {keys.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <label>
          At once{' '}
          <input type="number" min={0} max={100_000} value={max} onChange={({ target }) => setMax(target.value)} />
        </label>
        <label>
          For{' '}
          <select value={hours} onChange={({ target }) => setHours(Number(target.value))}>
            {HOURS.map((count) => (
              <option key={count} value={count}>
                {count < 24 ? `${count} h` : `${count / 24} d`}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={busy}>
          Override
        </button>
      </div>
    </form>
  )
}
