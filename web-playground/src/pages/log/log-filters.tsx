import { CLASS_LABELS, CLASS_SYMBOLS, PHASE_CLASSES } from 'phaseline/client-model'
import { humanKind, knownFamilies } from '../../model/known.ts'
import { LOG_FILTER, type LogFilter } from '../../model/log-filter.ts'
import { Choice } from '../../ui/choice.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useSession } from '../../ui/session-context.ts'
import { TimeChoice } from '../../ui/time-choice.tsx'

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
        {PHASE_CLASSES.map((name) => [name.toLowerCase(), `${CLASS_SYMBOLS[name]} ${CLASS_LABELS[name]}`])}
      </Choice>
      <Choice label="Actor" value={filter.actor} all="Any" onChange={(actor) => onChange({ ...filter, actor })}>
        {machines.actors.map((actor) => [actor, actor.toLowerCase().replaceAll('_', ' ')])}
      </Choice>
      <TimeChoice range={filter} onChange={onChange} />
      <Choice
        label="Requests"
        value={filter.rejected ?? ''}
        all="All"
        onChange={(rejected) => onChange({ ...filter, rejected: LOG_FILTER.fields.rejected.read(rejected) })}
      >
        {[
          ['none', 'Not refused'],
          ['only', 'Refused only'],
        ]}
      </Choice>
      {children}
    </search>
  )
}
