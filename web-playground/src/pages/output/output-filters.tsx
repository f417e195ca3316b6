import type { ReactNode } from 'react'
import { OUTPUT_FILTER, type OutputFilter, STREAMS } from '../../model/output-filter.ts'
import { Choice } from '../../ui/choice.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { TimeChoice } from '../../ui/time-choice.tsx'
import type { Look } from './output-rows.tsx'

interface Props {
  readonly filter: OutputFilter
  readonly look: Look
  readonly onChange: (filter: OutputFilter) => void
  readonly onLook: (look: Look) => void
  readonly children?: ReactNode
}
const STREAM_WORDS: Readonly<Record<(typeof STREAMS)[number], string>> = {
  STDOUT: 'Standard output',
  STDERR: 'Standard error',
  STEP: 'Steps',
  SYSTEM: 'Notes of Phaseline',
}

export function OutputFilters({ filter, look, onChange, onLook, children }: Props) {
  return (
    <search className="filters">
      <SearchField
        label="Search"
        value={filter.text}
        placeholder="words that the line has"
        onChange={(text) => onChange({ ...filter, text })}
      />
      <Choice
        label="Stream"
        value={filter.stream ?? ''}
        all="All"
        onChange={(stream) => onChange({ ...filter, stream: OUTPUT_FILTER.fields.stream.read(stream) })}
      >
        {STREAMS.map((one) => [one, STREAM_WORDS[one]])}
      </Choice>
      <Choice
        label="Level"
        value={filter.level ?? ''}
        all="Any"
        onChange={(level) => onChange({ ...filter, level: OUTPUT_FILTER.fields.level.read(level) })}
      >
        {[
          ['error', 'Errors'],
          ['warning', 'Warnings and errors'],
        ]}
      </Choice>
      <TimeChoice range={filter} onChange={onChange} />
      <Check label="Wrap" checked={look.wraps} onChange={(wraps) => onLook({ ...look, wraps })} />
      <Check label="Times" checked={look.hasTimes} onChange={(hasTimes) => onLook({ ...look, hasTimes })} />
      <Check label="Follow" checked={look.follows} onChange={(follows) => onLook({ ...look, follows })} />
      {children}
    </search>
  )
}

interface CheckProps {
  readonly label: string
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
}
const Check = ({ label, checked, onChange }: CheckProps) => (
  <label className="check">
    <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} /> {label}
  </label>
)
