import { holdsOf } from 'phaseline/client-model'
import { useState } from 'react'
import { AskedStore, type Question } from '../../data/asked-store.ts'
import { gql, type ResultOf } from '../../data/gql.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Since } from '../../ui/phase.tsx'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'

const HOLDS = gql(`query HeldAutomation { automationHolds { reason by at project { name } } }`)
type Hold = NonNullable<ResultOf<typeof HOLDS>['automationHolds']>[number]
/** No phase changes with a hold: the page polls. */
const HELD: Question<readonly Hold[]> = {
  concerns: () => false,
  ask: async ({ client }, signal) => (await client.query(HOLDS, {}, { signal })).automationHolds ?? [],
}

/** The holds of automation, and the switch of those who administer it: of one project, or of all. */
export function Holds({ project }: { readonly project: string }) {
  const { viewer } = useSession()
  const store = useLive('holds', (session, signal) => new AskedStore(session, HELD, signal))
  const { busy, result, ask } = useAct(() => store?.refresh())
  const [reason, setReason] = useState<string | null>(null)
  const holds = store?.answer && holdsOf(store.answer, project)
  const mayHold = viewer.administers(project || undefined)
  const isHeldHere = holds?.some((one) => !one.project || one.project.name === project) ?? true
  const of = (name: string | undefined) => (name === undefined ? {} : { project: name })
  const hold = (why: string): void => {
    setReason(null)
    const variables = { ...of(project || undefined), reason: why }
    void ask({ field: 'holdAutomation', input: 'HoldAutomationInput', done: 'Nothing begins by itself.', variables })
  }
  const release = ({ project: held }: Hold): void => {
    const variables = of(held?.name)
    void ask({ field: 'releaseAutomation', input: 'ReleaseAutomationInput', done: 'It is released.', variables })
  }
  if (!holds || (holds.length === 0 && !mayHold)) return null
  return (
    <section className={holds.length > 0 ? 'notice' : ''} aria-label="Automation">
      {holds.map((one) => (
        <div key={one.project?.name ?? ''} className="hold">
          <p className="brief" title={one.reason}>
            Automation of {one.project?.name ?? 'all projects'} is held by {one.by} for <Since at={one.at} />:{' '}
            {one.reason}
          </p>
          {viewer.administers(one.project?.name) && (
            <button type="button" disabled={busy} onClick={() => release(one)}>
              Release
            </button>
          )}
        </div>
      ))}
      {!isHeldHere && mayHold && (
        <button type="button" disabled={busy} onClick={() => setReason('')}>
          Hold automation
        </button>
      )}
      {result && <Outcome result={result} />}
      {reason !== null && (
        <ConfirmDialog
          title={`Hold the automation of ${project || 'all projects'}?`}
          text="Schedules, hooks and notifications do nothing until somebody releases it. What runs continues."
          label="Hold"
          danger={false}
          onConfirm={() => reason.trim() !== '' && hold(reason)}
          onClose={() => setReason(null)}
        >
          <label>
            Reason <input value={reason} required onChange={({ target }) => setReason(target.value)} />
          </label>
        </ConfirmDialog>
      )}
    </section>
  )
}
