import { use, useState } from 'react'
import { allExamples } from '../../families/index.ts'
import { DOES, type Example } from '../../model/examples.ts'
import { isNarrow } from '../../ui/row-height.ts'

const isWide = (): boolean => !isNarrow()

/** Example operations, by family. */
export function ExampleList({ onChoose }: { readonly onChoose: (example: Example) => void }) {
  const groups = use(allExamples())
  const [open, setOpen] = useState(isWide)
  const choose = (example: Example): void => {
    // On a narrow screen the chosen operation takes the place of the list.
    setOpen(isWide())
    onChoose(example)
  }
  return (
    <nav className="card example-list" aria-label="Examples">
      <button type="button" className="examples-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span aria-hidden="true">{open ? '▾' : '▸'}</span> Examples
      </button>
      {open &&
        groups.map(({ title, examples }) => (
          <section key={title} aria-label={title}>
            <h2>{title}</h2>
            <ul>
              {examples.map((example) => (
                <li key={example.title}>
                  <button type="button" className="example" onClick={() => choose(example)}>
                    <span className={`does does-${example.does}`}>{DOES[example.does]}</span> {example.title}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
    </nav>
  )
}
