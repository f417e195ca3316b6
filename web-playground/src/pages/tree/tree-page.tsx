import { useEffect, useState } from 'react'
import { HistoryStore } from '../../data/history-store.ts'
import { PastStore } from '../../data/past-store.ts'
import { TreeStore } from '../../data/tree-store.ts'
import { WorkFactsStore } from '../../data/work-facts-store.ts'
import type { CriticalPath } from '../../model/critical-path.ts'
import { creationAfter } from '../../model/timeline.ts'
import type { TreePlace } from '../../model/tree-place.ts'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { ChangesView } from './changes-view.tsx'
import { Created } from './created.tsx'
import { Gone } from './gone.tsx'
import { ObjectPanel } from './object-panel.tsx'
import { PastBanner } from './past-banner.tsx'
import { PastPanel } from './past-panel.tsx'
import { PathSummary } from './path-summary.tsx'
import { Reach, TimeBar } from './time-bar.tsx'
import { TimelineView } from './timeline/timeline-view.tsx'
import { TreeCanvas } from './tree-canvas.tsx'
import { TreeHead } from './tree-head.tsx'
import { useCriticalPath } from './use-critical-path.ts'
import { usePlace } from './use-place.ts'
import '../../styles/tree.css'
import '../../styles/time.css'

/** One tree as a graph or as a timeline, present or past, with the selected object next to it. */
export default function TreePage({ rootId }: { readonly rootId: string }) {
  const tree = useLive(rootId, (session, signal) => new TreeStore(session, rootId, signal))
  const history = useLive(rootId, (session, signal) => new HistoryStore(session, rootId, signal))
  const root = tree?.model.root ?? history?.timeline.lanes.get(rootId)
  useTitle(root?.name ?? 'Tree', tree?.model.root?.project.name ?? history?.timeline.last?.projectName)
  if (!tree || !history || (tree.state === 'loading' && !tree.error)) return <Loading what="the tree" />
  if (tree.state === 'loading') return <Problem message={tree.error ?? ''} />
  if (!tree.model.root && !history.loaded && !history.error) return <Loading what="the log of the tree" />
  // A deleted tree is shown from its log.
  if (!root) return <Gone rootId={rootId} wasHere={false} timeline={history.timeline} />
  return <Shown tree={tree} history={history} />
}

interface Stores {
  readonly tree: TreeStore
  readonly history: HistoryStore
}

function Shown({ tree, history }: Stores) {
  const { rootId } = tree.model
  const { place, select, show, travel, mark } = usePlace(rootId)
  const past = usePast({ tree, history }, place)
  const shown = place.at === null ? tree : past
  const hasPath = place.critical && place.view !== 'changes'
  const path = useCriticalPath(tree, history, hasPath)
  const { hasSlider, turnSlider } = useSlider(history, place.at, travel)
  return (
    <div className={`tree${place.at === null ? '' : ' past'}`}>
      <TreeHead
        {...{ tree, history, place, hasSlider }}
        rows={shown?.model.nodes ?? new Map()}
        onSlider={turnSlider}
        onCritical={mark}
      />
      {hasSlider && <TimeBar history={history} at={place.at} onTravel={travel} />}
      {!hasSlider && place.view === 'timeline' && <Reach history={history} />}
      {place.at !== null && <PastBanner at={place.at} history={history} past={past} />}
      {hasPath && history.loaded && !history.isReading && (
        <PathSummary {...{ rootId, place, path }} nameOf={(id) => history.timeline.lanes.get(id)?.name} />
      )}
      <div className="tree-body">
        {place.view === 'timeline' ? (
          <TimelineView {...{ tree, history, past, place, path }} onSelect={select} />
        ) : place.view === 'changes' && place.at === null ? (
          <ChangesView rootId={rootId} place={place} />
        ) : (
          <Graph {...{ tree, history, past, place, path }} onShow={show} />
        )}
        {place.at === null ? (
          <ObjectPanel key={place.object} id={place.object} />
        ) : (
          <PastPanel key={place.object} id={place.object} at={place.at} past={past} onLive={() => travel(null)} />
        )}
      </div>
    </div>
  )
}

/** The slider is shown when someone asks for it, or the address names a moment; from then on until it is closed. */
function useSlider(history: HistoryStore, at: number | null, travel: (at: number | null) => void) {
  const isPast = at !== null
  const [isOpen, setIsOpen] = useState(isPast)
  useEffect(() => {
    if (isPast) setIsOpen(true)
  }, [isPast])
  const turnSlider = (): void => {
    setIsOpen(!isOpen)
    if (!isOpen) history.want()
    // Without the slider there is only the present.
    else if (isPast) travel(null)
  }
  return { hasSlider: isOpen || isPast, turnSlider }
}

/** The past tree, where the address has a sequence. */
function usePast({ tree, history }: Stores, { at, view, critical }: TreePlace): PastStore | null {
  const { rootId } = tree.model
  const past = useLive(rootId, (session, signal) => new PastStore(session, { tree, history }, signal))
  useEffect(() => past?.show(at), [past, at])
  useEffect(() => {
    if (at !== null || view === 'timeline' || critical) history.want()
  }, [history, at, view, critical])
  return past
}

interface GraphProps extends Stores {
  readonly past: PastStore | null
  readonly place: TreePlace
  readonly path: CriticalPath
  readonly onShow: ReturnType<typeof usePlace>['show']
}
function Graph({ tree, history, past, place: { at, object, graph }, path, onShow }: GraphProps) {
  const { rootId, labels } = tree.model
  const facts = useLive(rootId, (session, signal) => new WorkFactsStore(session, rootId, signal))
  if (at === null && !tree.model.root) {
    return <Gone rootId={rootId} wasHere={tree.state === 'ready'} timeline={history.timeline} />
  }
  if (at !== null && (!past || past.sequence === null)) return past?.error ? <Unknown /> : <Loading what="how it was" />
  if (at !== null && !past?.model.root) {
    const created = creationAfter(history.timeline, at)
    return (
      <div className="page">
        <Empty title="This tree did not exist then.">
          {created && <Created {...created} />} Move to a later change, or back to Live.
        </Empty>
      </div>
    )
  }
  const shown = at === null ? tree : past
  return (
    shown && (
      <TreeCanvas
        tree={shown}
        {...(at === null ? { facts, history } : { facts: null, history: null })}
        selected={object}
        view={graph}
        {...{ labels, path, onShow }}
      />
    )
  )
}

function Unknown() {
  return (
    <div className="page">
      <Empty title="The log does not reach back to that time.">
        The log may not go back that far, or not reach that far yet. Move to another change, or back to Live.
      </Empty>
    </div>
  )
}
