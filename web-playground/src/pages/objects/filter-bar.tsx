import { CLASS_SYMBOLS } from 'phaseline/client-model'
import { useEffect, useState } from 'react'
import type { ObjectFilter } from '../../model/filter.ts'
import { classOf, humanKind, knownFamilies } from '../../model/known.ts'
import { useSession } from '../../ui/session-context.ts'

interface Props {
  readonly filter: ObjectFilter
  readonly onChange: (filter: ObjectFilter) => void
}
/** Milliseconds of a pause in typing. */
const TYPED_MS = 250

export function FilterBar({ filter, onChange }: Props) {
  const { machines } = useSession()
  const kinds = filter.kinds.length > 0 ? filter.kinds : machines.kinds
  const phases = [...new Set(kinds.flatMap((kind) => machines.of(kind)?.phases ?? []))].filter((p) => p !== 'GONE')
  return (
    <search className="filters">
      <NameSearch filter={filter} onChange={onChange} />
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
      <label className="check">
        <input
          type="checkbox"
          checked={filter.roots}
          onChange={({ target }) => onChange({ ...filter, roots: target.checked })}
        />
        <span>Roots only</span>
      </label>
    </search>
  )
}

function NameSearch({ filter, onChange }: Props) {
  const [text, setText] = useState(filter.name)
  useEffect(() => setText(filter.name), [filter.name])
  useEffect(() => {
    if (text === filter.name) return
    const timer = setTimeout(() => onChange({ ...filter, name: text }), TYPED_MS)
    return () => clearTimeout(timer)
  }, [text, filter, onChange])
  return (
    <label className="grow">
      <span>Name</span>
      <input type="search" value={text} placeholder="contains…" onChange={({ target }) => setText(target.value)} />
    </label>
  )
}
