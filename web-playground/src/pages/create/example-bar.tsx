import { useId, useState } from 'react'
import type { FormExample } from './form-example.ts'

interface Props<E extends FormExample> {
  readonly examples: readonly E[]
  readonly chosen: string | null
  readonly onChoose: (example: E) => void
}

/** Fills in the form; creates nothing. */
export function ExampleBar<E extends FormExample>({ examples, chosen, onChoose }: Props<E>) {
  const id = useId()
  const [last, setLast] = useState(chosen)
  const shown = examples.find(({ name }) => name === last)
  return (
    <section className="examples" aria-labelledby={id}>
      <h2 id={id}>Start from an example</h2>
      <div className="tabs">
        {examples.map((example) => (
          <button
            key={example.name}
            type="button"
            aria-pressed={example.name === last}
            title={example.about}
            onClick={() => {
              setLast(example.name)
              onChoose(example)
            }}
          >
            {example.label}
          </button>
        ))}
      </div>
      <p role="status" className="quiet">
        {shown ? (
          <>
            {shown.about} <b>{shown.needs}</b>
          </>
        ) : (
          'It fills in the form: nothing is created until you press Create.'
        )}
      </p>
    </section>
  )
}
