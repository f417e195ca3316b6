import { useState } from 'react'
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx'
import { useNow } from '../../../ui/now.ts'
import { useSession } from '../../../ui/session-context.ts'
import { Outcome } from '../../../ui/states.tsx'
import { useAct } from '../../../ui/use-act.ts'
import { WrappingTable } from '../../../ui/wrapping-table.tsx'
import { inOrder, type Place, runningOf, whyOf } from '../model/places.ts'

const COLUMNS = ['Name', 'Runtime', 'State', 'Workers', 'Jobs', 'Labels', 'Why']

interface Props {
  readonly places: readonly Place[]
  readonly onDone: () => Promise<unknown> | undefined
}
export function PlaceTable({ places, onDone }: Props) {
  const { viewer } = useSession()
  const now = useNow()
  const { busy, result, ask } = useAct(onDone)
  const [drained, setDrained] = useState<Place | null>(null)
  const drain = ({ name, type }: Place): void => {
    setDrained(null)
    const done = `${name} takes nothing new.`
    void ask({ field: 'drainPlace', input: 'DrainPlaceInput', done, variables: { name, type } })
  }
  const undrain = ({ name, type }: Place): void => {
    const done = `${name} takes work again.`
    void ask({ field: 'undrainPlace', input: 'UndrainPlaceInput', done, variables: { name, type } })
  }
  return (
    <section className="card" aria-label="All places">
      <WrappingTable
        label="Places"
        columns={COLUMNS}
        rows={inOrder(places).map((place) => ({
          key: place.id,
          name: place.name,
          cells: [
            place.type,
            place.state === 'LOST' ? (
              <b key="state" className="wrong">
                LOST
              </b>
            ) : (
              place.state
            ),
            runningOf(place.runningWorkers, place),
            runningOf(place.runningJobs, place),
            place.labels.map(({ key, value }) => `${key}=${value}`).join(', ') || '–',
            whyOf(place, now),
          ],
          action: viewer.isAdministrator && (
            <button
              type="button"
              aria-label={place.drain ? `Let ${place.name} take work again` : `Drain ${place.name}`}
              disabled={busy}
              onClick={() => (place.drain ? undrain(place) : setDrained(place))}
            >
              {place.drain ? 'Take work again' : 'Drain'}
            </button>
          ),
        }))}
      />
      {result && <Outcome result={result} />}
      {drained && (
        <ConfirmDialog
          title={`Drain ${drained.name}?`}
          text="It takes nothing new, at once. What runs there goes on to its end, and you can let it take work again at any time."
          label="Drain"
          danger={false}
          onConfirm={() => drain(drained)}
          onClose={() => setDrained(null)}
        />
      )}
    </section>
  )
}
