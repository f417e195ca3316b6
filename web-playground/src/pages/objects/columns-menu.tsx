import { useState } from 'react'
import { COLUMNS, type Column, DEFAULT_COLUMNS, withColumn } from '../../model/object-columns.ts'
import { LABELS } from './columns.tsx'

interface Props {
  readonly columns: readonly Column[]
  readonly onChange: (columns: readonly Column[]) => void
}

/** Shows and hides columns of the list. */
export function ColumnsMenu({ columns, onChange }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <button type="button" className="end" popoverTarget="columns">
        Columns
      </button>
      <div
        id="columns"
        popover="auto"
        className="popover columns"
        onToggle={({ newState }) => setIsOpen(newState === 'open')}
      >
        {isOpen && <Choices columns={columns} onChange={onChange} />}
      </div>
    </>
  )
}

function Choices({ columns, onChange }: Props) {
  return (
    <>
      <fieldset>
        <legend className="hidden">Columns</legend>
        {COLUMNS.map((column) => (
          <label key={column} className="check">
            <input
              type="checkbox"
              checked={columns.includes(column)}
              // The path names the row.
              disabled={column === 'path'}
              onChange={({ target }) => onChange(withColumn(columns, column, target.checked))}
            />
            <span>{LABELS[column]}</span>
          </label>
        ))}
      </fieldset>
      <button type="button" className="plain" onClick={() => onChange(DEFAULT_COLUMNS)}>
        As they were at first
      </button>
    </>
  )
}
