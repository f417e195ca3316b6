import { nodesOf } from 'phaseline/client-model'
import { Link } from 'wouter'
import { plural } from '../../../model/words.ts'
import { dateTime } from '../../../ui/exact-time.ts'
import { treeHref } from '../../../ui/links.ts'
import { Phase, Until } from '../../../ui/phase.tsx'
import { useLive } from '../../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../../ui/states.tsx'
import { useTitle } from '../../../ui/title.ts'
import { CALENDAR_FILTER, type CalendarFilter } from '../model/calendar.ts'
import { Backfills } from './backfills.tsx'
import { Calendar } from './calendar.tsx'
import { ALL_TIMES, type Firing, type ShownSchedule, type Stretch, scheduleOf } from './schedules-store.ts'

interface Props {
  readonly filter: CalendarFilter
  readonly onChange: (next: CalendarFilter) => void
  readonly stretch: Stretch
}
/** One schedule: its times in words and on a calendar, its firings and its backfills. */
export function OneSchedule({ filter, onChange, stretch }: Props) {
  const { id } = filter
  const store = useLive(JSON.stringify([id, stretch]), (session, signal) =>
    scheduleOf(session, { id, ...stretch }, signal),
  )
  const schedule = store?.answer?.schedule
  useTitle(schedule?.name ?? 'Schedules')
  return (
    <div className="page">
      <div className="page-head">
        <Link href={`/schedules${CALENDAR_FILTER.write({ ...filter, id: '' })}`}>Schedules</Link>
        <h1>{schedule?.name ?? '…'}</h1>
        {schedule && <Phase phase={schedule.phase} />}
        {schedule && (
          <Link href={treeHref(id)} className="button end">
            Fire, pause, delete
          </Link>
        )}
      </div>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!store?.answer && !store?.error && <Loading what="the schedule" />}
      {schedule === null && <Empty title={`There is no schedule ${id} that you may see.`} />}
      {schedule && store && (
        <>
          <Head schedule={schedule} />
          <Calendar
            filter={filter}
            onChange={onChange}
            schedules={[schedule]}
            zones={[schedule.scheduleSpec?.timeZone ?? 'UTC']}
            asked={ALL_TIMES}
          />
          <div className="cards">
            <Firings schedule={schedule} />
            <Backfills schedule={schedule} onDone={store.refresh} />
          </div>
        </>
      )}
    </div>
  )
}

function Head({ schedule }: { readonly schedule: ShownSchedule }) {
  const { scheduleSpec: spec, due, nextTimes, pausedBecause, editor, project } = schedule
  if (!spec) return null
  const [first] = Object.keys((spec.run ?? {}) as object)
  return (
    <section className="card" aria-label="Times">
      <p className="schedule-words">{spec.words}</p>
      <p className="quiet">
        {due && (
          <>
            Next <Until at={due} />
            {'; '}
          </>
        )}
        {pausedBecause && `paused: ${pausedBecause}; `}
        starts <code>{first}</code> in {project.name}, with the rights of {editor}; overlap {spec.overlap}, catch-up{' '}
        {spec.catchUp}
        {spec.cron.length > 0 && (
          <>
            ; <code>{spec.cron.join(' | ')}</code>
          </>
        )}
      </p>
      {nextTimes.length > 0 && (
        <details>
          <summary>The next {plural(Math.min(10, nextTimes.length), 'time')}</summary>
          <NextTimes times={nextTimes.slice(0, 10)} />
        </details>
      )}
    </section>
  )
}

export function NextTimes({ times }: { readonly times: readonly string[] }) {
  return (
    <ol className="next-times">
      {times.map((at) => (
        <li key={at}>
          <time dateTime={at}>{dateTime(at)}</time>
        </li>
      ))}
    </ol>
  )
}

function Firings({ schedule }: { readonly schedule: ShownSchedule }) {
  const firings = nodesOf(schedule.firings)
  const { totalCount } = schedule.firings
  return (
    <section className="card" aria-labelledby="firings">
      <h2 id="firings">Firings</h2>
      {firings.length === 0 && <p className="quiet">It has not fired yet.</p>}
      <ul className="things">
        {firings.map((firing) => (
          <Row key={firing.id} firing={firing} />
        ))}
      </ul>
      {(totalCount ?? 0) > firings.length && (
        <p className="quiet">
          The newest of {totalCount?.toLocaleString('en')}: <code>phaseline schedule get</code> lists more.
        </p>
      )}
    </section>
  )
}

const LOOKS: Readonly<Record<string, string>> = {
  FIRED: 'done',
  SKIPPED: 'skipped',
  REFUSED: 'failed',
  FORBIDDEN: 'failed',
}

function Row({ firing: { due, lastDue, times, byHand, outcome, reason, started } }: { readonly firing: Firing }) {
  return (
    <li>
      <span className="thing-name">
        <time dateTime={due}>{dateTime(due)}</time>
        {lastDue !== null && ` and ${times === null ? 'more than a thousand' : times - 1} later`}
        {byHand && <span className="quiet"> by hand</span>}
      </span>
      <span className="thing-end">
        {started ? (
          <>
            <Link href={treeHref(started.root.id)}>{started.name}</Link> <Phase phase={started.phase} />
          </>
        ) : (
          <b className={`phase is-${LOOKS[outcome] ?? 'waiting'}`}>{outcome}</b>
        )}
      </span>
      {reason !== null && <span className="thing-why">{reason}</span>}
    </li>
  )
}
