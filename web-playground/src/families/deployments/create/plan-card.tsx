import type { Refusal } from 'phaseline/client-model'
import { Submit } from '../../../pages/create/submit.tsx'
import { OnTargets } from './on-targets.tsx'
import { PlanPreview } from './plan-preview.tsx'
import type { Planned } from './use-plan.ts'

interface Props {
  /** Input of the plan as JSON; null: there is none. */
  readonly input: string | null
  readonly planned: Planned | null
  readonly isCurrent: boolean
  readonly isUpdate: boolean
  readonly busy: boolean
  readonly refused: Refusal | null
  readonly missing: string | null
  readonly onAgain: () => void
}

/** The plan, and the button that carries it out. */
export function PlanCard({ input, planned, isCurrent, isUpdate, busy, refused, missing, onAgain }: Props) {
  const outcome = planned?.outcome ?? null
  const failed = isCurrent && outcome?.ok === false && !outcome.refusal.fields?.length ? outcome.refusal : null
  const waiting = isCurrent ? null : 'Looking what would be done…'
  return (
    <section className="card plan-card" aria-labelledby="plan-title">
      <h2 id="plan-title">{isUpdate ? 'What the update would do' : 'What would be created'}</h2>
      <Submit
        label={isUpdate ? 'Update' : 'Create'}
        busy={busy}
        missing={missing ?? waiting ?? (failed ? 'It cannot be done like this.' : null)}
        refused={refused ?? failed}
        fields={['input']}
      />
      {failed && (
        <button type="button" onClick={onAgain}>
          Look again
        </button>
      )}
      {missing === null && outcome?.ok && <PlanPreview plan={outcome.value} stale={!isCurrent} />}
      {missing === null && isCurrent && outcome?.ok && input !== null && <OnTargets input={input} />}
    </section>
  )
}
