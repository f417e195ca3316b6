import { failureText } from 'phaseline/client-model'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Details } from '../../data/details-store.ts'
import { runsOf, specsOf } from '../../data/runs.ts'
import { mayChange } from '../../model/actions.ts'
import { CAUSES } from '../../model/last-run.ts'
import { type Difference, describeDifference, differences } from '../../model/spec-diff.ts'
import { duration, plural } from '../../model/words.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { outputHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'

const FEW = 5
const MOST_DIFFERENCES = 12

interface Asked {
  readonly toGeneration: number
  readonly generation: number
  readonly found: readonly Difference[]
}

/** The jobs of a root installation, with the way back to the spec of each. */
export function PanelRuns({
  details,
  onDone,
}: {
  readonly details: Details
  readonly onDone: () => Promise<unknown> | undefined
}) {
  const { id, name } = details
  const { client } = useSession()
  const store = useLive(id, (session, signal) => runsOf(session, id, signal))
  const { busy, result, ask } = useAct(() => Promise.all([store?.refresh(), onDone()]))
  const [showsAll, setShowsAll] = useState(false)
  const [asked, setAsked] = useState<Asked | null>(null)
  const runs = store?.answer
  if (!runs || runs.newest.length === 0) return null
  const open = async (toGeneration: number): Promise<void> => {
    const specs = await specsOf(client, id, toGeneration).catch(() => null)
    if (!specs) return store?.refresh()
    setAsked({ toGeneration, generation: specs.generation, found: differences(specs.present, specs.earlier) })
  }
  const rollBack = ({ toGeneration, generation }: Asked): void => {
    setAsked(null)
    void ask({
      field: 'rollbackInstallation',
      input: 'RollbackInstallationInput',
      variables: { id, toGeneration, expectedGeneration: generation },
      done: `The spec ${toGeneration} is back.`,
    })
  }
  const shown = showsAll ? runs.newest : runs.newest.slice(0, FEW)
  const canGoBackTo = (generation: number): boolean =>
    mayChange(details) && !details.deletionRequestedAt && runs.kept.includes(generation)
  return (
    <section aria-label="Runs">
      <h3>Runs</h3>
      <ol className="runs">
        {shown.map((run, i) => (
          <li key={run.number} data-run={run.number}>
            <span className="quiet">{run.number}</span>{' '}
            {run.phase ? <Phase phase={run.phase} /> : <b className="is-active">▶ running</b>}{' '}
            {run.durationMs === null ? <Since at={run.startedAt} /> : duration(run.durationMs)}
            <p className="quiet">
              {CAUSES[run.cause]}
              {run.by !== null && ` by ${run.by}`} <Since at={run.startedAt} /> ago, spec {run.generation}
            </p>
            {run.error && <p className="quiet">{failureText(run.error)}</p>}
            {canGoBackTo(run.generation) && (
              <button type="button" disabled={busy} onClick={() => void open(run.generation)}>
                Roll back to spec {run.generation}
              </button>
            )}{' '}
            <Link href={outputHref({ root: id, since: run.startedAt, until: runs.newest[i - 1]?.startedAt ?? '' })}>
              Output
            </Link>
          </li>
        ))}
      </ol>
      {runs.newest.length > FEW && !showsAll && (
        <button type="button" onClick={() => setShowsAll(true)}>
          Show {runs.newest.length < runs.count ? `the last ${runs.newest.length}` : `all ${runs.count}`}
        </button>
      )}
      <Outcome result={result} />
      {asked && (
        <ConfirmDialog
          title={`Roll ${name} back to spec ${asked.toGeneration}?`}
          text={
            asked.found.length === 0
              ? 'It is the same as the present spec: nothing changes.'
              : `${plural(asked.found.length, 'difference')} to the present spec. A job begins.`
          }
          label="Roll back"
          danger={false}
          onConfirm={() => rollBack(asked)}
          onClose={() => setAsked(null)}
        >
          <ul className="differences">
            {asked.found.slice(0, MOST_DIFFERENCES).map((difference) => (
              <li key={difference.path}>
                <code>{describeDifference(difference)}</code>
              </li>
            ))}
            {asked.found.length > MOST_DIFFERENCES && <li>… and {asked.found.length - MOST_DIFFERENCES} more</li>}
          </ul>
        </ConfirmDialog>
      )}
    </section>
  )
}
