import { AskedStore } from '../../../data/asked-store.ts'
import { plural } from '../../../model/words.ts'
import { useLive } from '../../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../../ui/states.tsx'
import { useTitle } from '../../../ui/title.ts'
import { PLACES_NOW, type Places } from '../data.ts'
import { PlaceTable } from './place-table.tsx'

/** The places where runtimes start workers and jobs. */
export default function PlacesPage() {
  useTitle('Places')
  const store = useLive('places', (session, signal) => new AskedStore(session, PLACES_NOW, signal))
  const answer = store?.answer
  return (
    <div className="page">
      <div className="page-head">
        <h1>Places</h1>
        <span className="quiet" role="status">
          {answer && counted(answer)}
        </span>
      </div>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!answer && !store?.error && <Loading what="places" />}
      {answer?.total === 0 && <NoPlaces />}
      {answer && answer.total > 0 && <PlaceTable places={answer.places} onDone={() => store?.refresh()} />}
    </div>
  )
}

function counted({ places, total }: Places): string {
  const active = places.filter(({ state }) => state === 'ACTIVE' || state === 'FULL').length
  const read = places.length < total ? ` (of the first ${places.length.toLocaleString('en')} read)` : ''
  return `${plural(total, 'place')}, ${active.toLocaleString('en')} at work${read}`
}

function NoPlaces() {
  return (
    <Empty title="No place that you may see.">
      <p>
        A runtime registers the host or the cluster where it starts the workers and jobs of events:{' '}
        <code>phaseline agent --types process --label zone=eu --capacity 8</code>
      </p>
    </Empty>
  )
}
