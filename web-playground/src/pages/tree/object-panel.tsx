import { Link } from 'wouter'
import { type Details, DetailsStore } from '../../data/details-store.ts'
import { ObjectHistoryStore } from '../../data/object-history-store.ts'
import { classOf, humanKind } from '../../model/known.ts'
import { treeHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { BulkProgress } from '../objects/bulk-progress.tsx'
import { ActionButtons } from './action-buttons.tsx'
import { PanelArtifacts } from './panel-artifacts.tsx'
import { PanelAttempts } from './panel-attempts.tsx'
import { PanelAutomatic } from './panel-automatic.tsx'
import { PanelData } from './panel-data.tsx'
import { PanelEvent } from './panel-event.tsx'
import { PanelForecast } from './panel-forecast.tsx'
import { PanelLogs } from './panel-logs.tsx'
import { Deadlines, Dependencies, Failure, Progress, Requested, WaitsFor } from './panel-parts.tsx'
import { PanelRuns } from './panel-runs.tsx'
import { WaySection } from './way-section.tsx'

/** All fields of the selected object. */
export function ObjectPanel({ id }: { readonly id: string }) {
  const way = useLive(id, (session, signal) => new ObjectHistoryStore(session, id, signal))
  const store = useLive(id, (session, signal) => new DetailsStore(session, id, signal))
  const details = store?.details
  return (
    <aside className="panel" aria-label="The selected object">
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {details === undefined && !store?.error && <Loading what="the object" />}
      {details === null && (
        <>
          <Empty title="This object was deleted.">Select another object, or go back in time.</Empty>
          <WaySection id={id} way={way} />
        </>
      )}
      {store && details && <Shown details={details} way={way} onDone={store.refresh} />}
    </aside>
  )
}

interface ShownProps {
  readonly details: Details
  readonly way: ObjectHistoryStore | null
  readonly onDone: () => Promise<unknown> | undefined
}
function Shown({ details, way, onDone }: ShownProps) {
  return (
    <>
      <header className="panel-head">
        <h2>{details.name}</h2>
        <span className="quiet">{humanKind(details.kind)}</span>
      </header>
      <p className="panel-phase" role="status">
        <Phase phase={details.phase} /> for <Since at={details.phaseSince} />
        {details.deletionRequestedAt && <span className="quiet">, to be deleted</span>}
      </p>
      <ActionButtons object={details} root={details.tree} onDone={onDone} />
      {classOf(details.phase) !== 'DONE' && <Progress progress={details.progress} />}
      {details.kind === 'BULK_OPERATION' && <BulkProgress ids={[details.id]} />}
      <PanelAttempts details={details} />
      <PanelAutomatic details={details} />
      <Failure failure={details.failure} />
      <Requested requests={details.pendingRequests} />
      <WaitsFor id={details.id} blockedBy={details.blockedBy} />
      <PanelForecast details={details} />
      <Deadlines deadlines={details.deadlines} />
      <Dependencies dependsOn={details.dependsOn} />
      <PanelEvent details={details} />
      {details.kind === 'INSTALLATION' && details.root.id === details.id && (
        <PanelRuns details={details} onDone={onDone} />
      )}
      <PanelArtifacts details={details} />
      <PanelLogs objectId={details.id} name={details.name} />
      <WaySection id={details.id} way={way} />
      <PanelData details={details} />
      {details.root.id !== details.id && (
        <p className="quiet">
          In <Link href={treeHref(details.root.id)}>{details.root.name}</Link>
        </p>
      )}
    </>
  )
}
