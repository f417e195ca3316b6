import { type AuditFilter, OUTCOMES } from '../../model/audit.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { TimeChoice } from '../../ui/time-choice.tsx'

interface Props {
  readonly filter: AuditFilter
  readonly onChange: (filter: AuditFilter) => void
}

export function AuditFilters({ filter, onChange }: Props) {
  return (
    <search className="filters">
      <SearchField
        label="Operation"
        value={filter.operation}
        placeholder="e.g. createToken"
        onChange={(operation) => onChange({ ...filter, operation })}
      />
      <SearchField
        label="Project"
        value={filter.project}
        placeholder="name"
        onChange={(project) => onChange({ ...filter, project })}
      />
      <label>
        <span>Outcome</span>
        <select
          value={filter.outcome ?? ''}
          onChange={({ target }) =>
            onChange({ ...filter, outcome: OUTCOMES.find((outcome) => outcome === target.value) ?? null })
          }
        >
          <option value="">Any</option>
          {OUTCOMES.map((outcome) => (
            <option key={outcome} value={outcome}>
              {outcome.charAt(0) + outcome.slice(1).toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      <TimeChoice range={filter} onChange={onChange} />
      {filter.principal && (
        <button type="button" onClick={() => onChange({ ...filter, principal: '' })}>
          One principal ✕
        </button>
      )}
      {filter.object && (
        <button type="button" onClick={() => onChange({ ...filter, object: '' })}>
          One object ✕
        </button>
      )}
    </search>
  )
}
