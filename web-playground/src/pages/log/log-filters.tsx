import { humanKind, knownFamilies } from '../../model/known.ts'
import { LOG_SPANS, type LogFilter, readLogSpan, readRejected } from '../../model/log-filter.ts'
import { PHASE_CLASSES, SYMBOLS, WORDS } from '../../model/phases.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { useSession } from '../../ui/session-context.ts'

interface Props {
  readonly filter: LogFilter
  readonly onChange: (filter: LogFilter) => void
  readonly children?: React.ReactNode
}

export function LogFilters({ filter, onChange, children }: Props) {
  const { machines } = useSession()
  return (
    <search className="filters">
      <SearchField
        label="Search"
        value={filter.text}
        placeholder="path, phase, actor, reason…"
        onChange={(text) => onChange({ ...filter, text })}
      />
      <Choice label="Kind" value={filter.kind} all="All" onChange={(kind) => onChange({ ...filter, kind })}>
        {knownFamilies()
          .flatMap(({ kinds }) => kinds)
          .map(({ kind }) => [kind, humanKind(kind)])}
      </Choice>
      <Choice
        label="Became"
        value={filter.became}
        all="Anything"
        onChange={(became) => onChange({ ...filter, became })}
      >
        {PHASE_CLASSES.map((name) => [name, `${SYMBOLS[name]} ${WORDS[name]}`])}
      </Choice>
      <Choice label="Actor" value={filter.actor} all="Any" onChange={(actor) => onChange({ ...filter, actor })}>
        {machines.actors.map((actor) => [actor, actor.toLowerCase().replaceAll('_', ' ')])}
      </Choice>
      <Choice
        label="When"
        value={filter.last ?? ''}
        all="Any time"
        onChange={(span) => onChange({ ...filter, last: readLogSpan(span), since: '' })}
      >
        {Object.keys(LOG_SPANS).map((span) => [span, `Last ${span}`])}
      </Choice>
      <Choice
        label="Requests"
        value={filter.rejected === 'all' ? '' : filter.rejected}
        all="All"
        onChange={(rejected) => onChange({ ...filter, rejected: readRejected(rejected) })}
      >
        {[
          ['none', 'Not refused'],
          ['only', 'Refused only'],
        ]}
      </Choice>
      {filter.since && (
        <button type="button" onClick={() => onChange({ ...filter, since: '' })}>
          Since {dateTime(filter.since)} ✕
        </button>
      )}
      {filter.until && (
        <button type="button" onClick={() => onChange({ ...filter, until: '' })}>
          Until {dateTime(filter.until)} ✕
        </button>
      )}
      {children}
    </search>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  /** Word for the empty value. */
  readonly all: string
  readonly onChange: (value: string) => void
  /** Values and their words. */
  readonly children: readonly (readonly string[])[]
}
function Choice({ label, value, all, onChange, children }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">{all}</option>
        {children.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
