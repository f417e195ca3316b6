import { CLASS_SYMBOLS } from 'phaseline/client-model'
import { useId, useMemo, useState } from 'react'
import type { ObjectFilter } from '../../model/filter.ts'
import { classOf, humanKind, knownFamilies } from '../../model/known.ts'
import type { ListedRow } from '../../model/object.ts'
import { type Pair, pairOf, textOf, textsOf, withPair } from '../../model/pairs.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { useSession } from '../../ui/session-context.ts'

interface Props {
  readonly filter: ObjectFilter
  readonly onChange: (filter: ObjectFilter) => void
  /** Chooses roots alone, or everything, for other lists as well. */
  readonly onRoots: (roots: boolean) => void
  /** The rows that were read: a label is completed from theirs. */
  readonly rows: readonly ListedRow[]
}

export function FilterBar({ filter, onChange, onRoots, rows }: Props) {
  const { machines } = useSession()
  const kinds = filter.kinds.length > 0 ? filter.kinds : machines.kinds
  const phases = [...new Set(kinds.flatMap((kind) => machines.of(kind)?.phases ?? []))].filter((p) => p !== 'GONE')
  return (
    <search className="filters">
      <SearchField label="Name" value={filter.name} onChange={(name) => onChange({ ...filter, name })} />
      <label>
        <span>Kind</span>
        <select
          value={filter.kinds.length > 1 ? filter.kinds.join(',') : (filter.kinds[0] ?? '')}
          onChange={({ target }) =>
            onChange({ ...filter, kinds: target.value ? target.value.split(',') : [], phases: [] })
          }
        >
          <option value="">All</option>
          {filter.kinds.length > 1 && <option value={filter.kinds.join(',')}>{filter.kinds.length} kinds</option>}
          {knownFamilies().map((family) => (
            <optgroup key={family.name} label={family.title}>
              {family.kinds.map(({ kind }) => (
                <option key={kind} value={kind}>
                  {humanKind(kind)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <label>
        <span>Phase</span>
        <select
          value={filter.phases.join(',')}
          onChange={({ target }) => onChange({ ...filter, phases: target.value ? target.value.split(',') : [] })}
        >
          <option value="">Any</option>
          {filter.phases.length > 1 && <option value={filter.phases.join(',')}>{filter.phases.length} phases</option>}
          {phases.map((phase) => (
            <option key={phase} value={phase}>
              {CLASS_SYMBOLS[classOf(phase)]} {phase}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>State</span>
        <select
          value={filter.finished === null ? '' : filter.finished ? 'yes' : 'no'}
          onChange={({ target }) =>
            onChange({ ...filter, finished: target.value === '' ? null : target.value === 'yes' })
          }
        >
          <option value="">Any</option>
          <option value="no">Unfinished</option>
          <option value="yes">Finished</option>
        </select>
      </label>
      <LabelField rows={rows} onAdd={(label) => onChange({ ...filter, labels: withPair(filter.labels, label) })} />
      <label className="check">
        <input type="checkbox" checked={filter.roots === true} onChange={({ target }) => onRoots(target.checked)} />
        <span>Roots only</span>
      </label>
      {filter.labels.map((label) => (
        <button
          key={label.key}
          type="button"
          aria-label={`Remove the label ${textOf(label)}`}
          title="Show others, too"
          onClick={() => onChange({ ...filter, labels: filter.labels.filter((one) => one !== label) })}
        >
          {textOf(label)} ✕
        </button>
      ))}
    </search>
  )
}

interface LabelProps {
  readonly rows: readonly ListedRow[]
  readonly onAdd: (label: Pair) => void
}
/** A label takes effect when it is chosen among those of the rows, or with Enter. */
function LabelField({ rows, onAdd }: LabelProps) {
  const id = useId()
  const [text, setText] = useState('')
  const known = useMemo(() => textsOf(rows.map(({ labels }) => labels)), [rows])
  const entered = text === '' ? null : (pairOf(text.trim()) ?? pairOf(known.find((one) => one.startsWith(text)) ?? ''))
  const add = (added: Pair): void => {
    setText('')
    onAdd(added)
  }
  return (
    <label>
      <span>Label</span>
      <input
        value={text}
        list={id}
        placeholder="key=value"
        autoComplete="off"
        spellCheck={false}
        onChange={({ target, nativeEvent }) => {
          const typed = nativeEvent instanceof InputEvent && nativeEvent.inputType !== 'insertReplacementText'
          const chosen = typed ? null : pairOf(target.value)
          if (chosen) add(chosen)
          else setText(target.value)
        }}
        onKeyDown={({ key }) => key === 'Enter' && entered && add(entered)}
      />
      <datalist id={id}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  )
}
