import { useId } from 'react'
import { type Pair, pairProblems } from '../../model/pairs.ts'

interface Props {
  readonly label: string
  /** A single pair, e.g. `label`. */
  readonly noun: string
  readonly pairs: readonly Pair[]
  readonly onChange: (pairs: readonly Pair[]) => void
  readonly help: string
  /** The server's problems with the pairs. */
  readonly problem?: string | null
}

/** Pairs of keys and values, a row for each. */
export function PairsField({ label, noun, pairs, onChange, help, problem = null }: Props) {
  const id = useId()
  const problems = pairProblems(pairs)
  const replace = (at: number, pair: Pair): void => onChange(pairs.map((one, i) => (i === at ? pair : one)))
  return (
    <fieldset className="field pairs" aria-describedby={id}>
      <legend>{label}</legend>
      {pairs.map((pair, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is where it stands
        <div key={i} className="pair">
          <input
            aria-label={`Key of ${noun} ${i + 1}`}
            aria-invalid={problems[i] !== null}
            aria-describedby={`${id}-${i}`}
            placeholder="key"
            value={pair.key}
            spellCheck={false}
            onChange={({ target }) => replace(i, { ...pair, key: target.value })}
          />
          <span aria-hidden="true">=</span>
          <input
            aria-label={`Value of ${noun} ${i + 1}`}
            placeholder="value"
            value={pair.value}
            spellCheck={false}
            onChange={({ target }) => replace(i, { ...pair, value: target.value })}
          />
          <button
            type="button"
            className="plain"
            aria-label={`Remove ${noun} ${i + 1}`}
            title="Remove"
            onClick={() => onChange(pairs.filter((_, other) => other !== i))}
          >
            ✕
          </button>
          <p id={`${id}-${i}`} className="wrong">
            {problems[i] && `✗ ${problems[i]}`}
          </p>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...pairs, { key: '', value: '' }])}>
        Add a {noun}
      </button>
      <div id={id} className="field-about">
        {problem !== null && <p className="wrong">✗ {problem}</p>}
        <p className="quiet">{help}</p>
      </div>
    </fieldset>
  )
}
