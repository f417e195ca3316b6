import { type FormEvent, useState } from 'react'
import { type Limits, limitOf, STRATEGIES, STRATEGY_WORDS, type Strategy } from '../../model/project.ts'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'

interface Props {
  readonly project: string
  readonly limits: Limits
  readonly mayWrite: boolean
  readonly onDone: () => Promise<unknown> | undefined
}

/** The most workers and jobs of the project at a time. A read does not overwrite typed values. */
export function LimitsForm({ project, limits, mayWrite, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [edited, setEdited] = useState<Edited | null>(null)
  const now = edited ?? editedOf(limits)
  const [maxWorkers, maxJobs] = [limitOf(now.maxWorkers), limitOf(now.maxJobs)]
  const isFit = maxWorkers !== undefined && maxJobs !== undefined
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const { ok } = await ask({
      field: 'updateProject',
      input: 'UpdateProjectInput',
      done: 'The limits are saved.',
      variables: { name: project, limits: { maxWorkers, maxJobs, strategy: now.strategy } },
    })
    if (ok) setEdited(null)
  }
  return (
    <section className="card" aria-labelledby="limits">
      <h3 id="limits">Limits</h3>
      <form className="inline-form" onSubmit={(event) => void submit(event)}>
        <NumberField
          label="Workers at a time"
          value={now.maxWorkers}
          disabled={!mayWrite}
          onChange={(text) => setEdited({ ...now, maxWorkers: text })}
        />
        <NumberField
          label="Jobs at a time"
          value={now.maxJobs}
          disabled={!mayWrite}
          onChange={(text) => setEdited({ ...now, maxJobs: text })}
        />
        <label className="grow">
          <span>When there are more events than that</span>
          <select
            value={now.strategy}
            disabled={!mayWrite}
            onChange={({ target }) => {
              const strategy = STRATEGIES.find((each) => each === target.value) ?? 'QUEUE'
              setEdited({ ...now, strategy })
            }}
          >
            {STRATEGIES.map((each) => (
              <option key={each} value={each}>
                {STRATEGY_WORDS[each]}
              </option>
            ))}
          </select>
        </label>
        {mayWrite && (
          <button type="submit" disabled={busy || !edited || !isFit}>
            Save
          </button>
        )}
        <Outcome result={result} />
      </form>
    </section>
  )
}

interface Edited {
  readonly maxWorkers: string
  readonly maxJobs: string
  readonly strategy: Strategy
}
const editedOf = ({ maxWorkers, maxJobs, strategy }: Limits): Edited => ({
  maxWorkers: maxWorkers?.toString() ?? '',
  maxJobs: maxJobs?.toString() ?? '',
  strategy,
})

interface NumberProps {
  readonly label: string
  readonly value: string
  readonly disabled: boolean
  readonly onChange: (text: string) => void
}
function NumberField({ label, value, disabled, onChange }: NumberProps) {
  return (
    <label>
      <span>{label}</span>
      <input
        inputMode="numeric"
        size={8}
        placeholder="no limit"
        value={value}
        disabled={disabled}
        aria-invalid={limitOf(value) === undefined}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  )
}
