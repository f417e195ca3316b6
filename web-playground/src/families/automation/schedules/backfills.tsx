import { nodesOf } from 'phaseline/client-model'
import { type FormEvent, useState } from 'react'
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx'
import { dateTime } from '../../../ui/exact-time.ts'
import { Outcome } from '../../../ui/states.tsx'
import { useAct } from '../../../ui/use-act.ts'
import type { Backfill, ShownSchedule } from './schedules-store.ts'

interface Props {
  readonly schedule: ShownSchedule
  readonly onDone: () => Promise<unknown> | undefined
}

/** The last backfills with their progress, and a form for the next one. */
export function Backfills({ schedule, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [isSure, setIsSure] = useState(false)
  const backfills = nodesOf(schedule.backfills)
  const running = backfills.find(({ state }) => state === 'RUNNING')
  const may = schedule.verbs.some(({ obstacle }) => obstacle !== 'RIGHT')
  const cancel = (): void => {
    setIsSure(false)
    const variables = { id: schedule.id }
    void ask({ field: 'cancelBackfill', input: 'CancelBackfillInput', done: 'The backfill is cancelled.', variables })
  }
  return (
    <section className="card" aria-labelledby="backfills">
      <h2 id="backfills">Backfill</h2>
      <p className="quiet">Fires times that have passed, without those that have fired. It uses up no count.</p>
      <ul className="things">
        {backfills.map((backfill) => (
          <Row key={backfill.id} backfill={backfill} />
        ))}
      </ul>
      {may && running && (
        <button type="button" className="danger" disabled={busy} onClick={() => setIsSure(true)}>
          Cancel the backfill
        </button>
      )}
      {may && !running && (
        <Form
          busy={busy}
          onSubmit={(variables) =>
            void ask({
              field: 'backfillSchedule',
              input: 'BackfillScheduleInput',
              done: 'The backfill has begun: its progress is above.',
              variables: { id: schedule.id, ...variables },
            })
          }
        />
      )}
      <Outcome result={result} />
      {isSure && (
        <ConfirmDialog
          title="Cancel the backfill?"
          text="Times that are still to come are skipped. Those that have started run on."
          label="Cancel the backfill"
          danger
          onConfirm={cancel}
          onClose={() => setIsSure(false)}
        />
      )}
    </section>
  )
}

function Row({ backfill }: { readonly backfill: Backfill }) {
  const { from, until, by, state, times, waiting, running, skipped, refused, refire } = backfill
  const counts = Object.entries({ running, waiting, skipped, refused }).filter(([, count]) => count > 0)
  const decided = times - waiting
  return (
    <li>
      <span className="thing-name">
        {dateTime(from)} to {dateTime(until)}
      </span>
      <b className={`phase is-${state === 'RUNNING' ? 'active' : state === 'ENDED' ? 'done' : 'stopped'}`}>{state}</b>
      {state === 'RUNNING' && (
        <progress className="backfill-progress" value={decided} max={times} aria-label="Progress of the backfill" />
      )}
      <span className="thing-why">
        {decided.toLocaleString('en')} of {times.toLocaleString('en')} decided
        {counts.map(([what, count]) => `, ${count.toLocaleString('en')} ${what}`).join('')}; by {by}
        {refire && ', again'}
      </span>
    </li>
  )
}

/** A local time of day, as the field has it, as ISO 8601. */
const isoOf = (local: string): string => new Date(local).toISOString()

function Form({ busy, onSubmit }: { readonly busy: boolean; readonly onSubmit: (variables: object) => void }) {
  const [fields, setFields] = useState({ from: '', until: '', overlap: 'QUEUE', refire: false })
  const { from, until, overlap, refire } = fields
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSubmit({ from: isoOf(from), until: until === '' ? null : isoOf(until), overlap, refire })
  }
  return (
    <form className="inline-form" onSubmit={submit}>
      <label>
        <span>From (your time)</span>
        <input
          type="datetime-local"
          required
          value={from}
          onChange={({ target }) => setFields({ ...fields, from: target.value })}
        />
      </label>
      <label>
        <span>Until (now, if left out)</span>
        <input
          type="datetime-local"
          value={until}
          onChange={({ target }) => setFields({ ...fields, until: target.value })}
        />
      </label>
      <label>
        <span>Overlap</span>
        <select value={overlap} onChange={({ target }) => setFields({ ...fields, overlap: target.value })}>
          <option value="QUEUE">one after the other</option>
          <option value="ALLOW">side by side</option>
        </select>
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={refire}
          onChange={({ target }) => setFields({ ...fields, refire: target.checked })}
        />
        <span>Also what has fired</span>
      </label>
      <button type="submit" disabled={busy}>
        Backfill
      </button>
    </form>
  )
}
