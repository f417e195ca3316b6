import type { ReactNode } from 'react'
import { Outcome } from './states.tsx'
import type { useAct } from './use-act.ts'
import { type Removal, useRemoval } from './use-removal.tsx'

interface Props<T> {
  /** The id of its heading. */
  readonly id: string
  readonly title: string
  readonly about: string
  readonly none?: string
  readonly things: readonly T[]
  /** Draws one; without `onDelete` the viewer may not change it. */
  readonly row: (thing: T, onDelete: (() => void) | null) => ReactNode
  /** How many there are; absent: all are shown. */
  readonly total?: number
  readonly mayWrite: boolean
  /** The mutation that deletes one, and what people are asked before. */
  readonly deletion: { readonly field: string; of(thing: T): Removal }
  readonly acting: ReturnType<typeof useAct>
  /** Creates one. */
  readonly form: ReactNode
}

/** A list of named things of a project, such as its secrets and hooks, with a form below it. */
export function ThingsCard<T>(props: Props<T>) {
  const { id, title, about, none = 'There are none.', things, row, total = 0, mayWrite, deletion, acting, form } = props
  const { busy, result, ask } = acting
  const { remove, dialog } = useRemoval(deletion.field, ask)
  return (
    <section className="card" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <p className="quiet">{about}</p>
      {things.length === 0 && <p className="quiet">{none}</p>}
      <ul className="things">
        {things.map((thing) => row(thing, mayWrite ? () => !busy && remove(deletion.of(thing)) : null))}
      </ul>
      {total > things.length && (
        <p className="quiet">
          The first {things.length} of {total.toLocaleString('en')}: the command line lists all.
        </p>
      )}
      {mayWrite && form}
      {result && <Outcome result={result} />}
      {dialog}
    </section>
  )
}

interface DeleteProps {
  readonly name: string
  readonly onDelete: (() => void) | null
}
/** Nothing for those who may not. */
export const DeleteButton = ({ name, onDelete }: DeleteProps) =>
  onDelete && (
    <button type="button" aria-label={`Delete ${name}`} onClick={onDelete}>
      Delete
    </button>
  )

interface NameProps {
  readonly value: string
  readonly onChange: (name: string) => void
}
/** The name of something new, as the server requires it of most. */
export const NameField = ({ value, onChange }: NameProps) => (
  <label>
    <span>Name</span>
    <input
      value={value}
      required
      pattern="[A-Za-z_][A-Za-z0-9_\-]*"
      title="Letters, digits, _ and -; a letter or _ first"
      maxLength={63}
      autoComplete="off"
      spellCheck={false}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
)
