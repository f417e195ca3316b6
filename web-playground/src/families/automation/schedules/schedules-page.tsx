import { useState } from 'react'
import { Link } from 'wouter'
import { plural } from '../../../model/words.ts'
import { clocksIn, viewerZone } from '../../../ui/exact-time.ts'
import { Phase, Until } from '../../../ui/phase.tsx'
import { useLive } from '../../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../../ui/states.tsx'
import { useTitle } from '../../../ui/title.ts'
import { useFilter } from '../../../ui/use-filter.ts'
import { Holds } from '../holds.tsx'
import { CALENDAR_FILTER, type CalendarFilter, daysShown, stretchOf } from '../model/calendar.ts'
import { Calendar } from './calendar.tsx'
import { CreateSchedule } from './create-schedule.tsx'
import { OneSchedule } from './one-schedule.tsx'
import { LISTED_TIMES, type ListedSchedule, type Stretch, schedulesOf } from './schedules-store.ts'
import '../../../styles/projects.css'
import './schedules.css'

/** All schedules, or one of them, with a calendar. */
export default function SchedulesPage() {
  useTitle('Schedules')
  const [filter, change] = useFilter(CALENDAR_FILTER)
  const stretch = shownStretch(filter)
  return filter.id === '' ? (
    <All filter={filter} onChange={change} stretch={stretch} />
  ) : (
    <OneSchedule filter={filter} onChange={change} stretch={stretch} />
  )
}

function shownStretch({ view, day, zone }: CalendarFilter): Stretch {
  const timeZone = zone || viewerZone()
  return { ...stretchOf(daysShown(view ?? 'month', day || clocksIn(timeZone).dayOf(new Date()))), timeZone }
}

interface Props {
  readonly filter: CalendarFilter
  readonly onChange: (next: CalendarFilter) => void
  readonly stretch: Stretch
}
function All({ filter, onChange, stretch }: Props) {
  const { project } = filter
  const store = useLive(JSON.stringify([project, stretch]), (session, signal) =>
    schedulesOf(session, { project, ...stretch }, signal),
  )
  const [isAdding, setIsAdding] = useState(false)
  const { schedules = [], totalCount = 0 } = store?.answer ?? {}
  return (
    <div className="page">
      <div className="page-head">
        <h1>Schedules</h1>
        <span className="quiet" role="status">
          {store?.answer && plural(totalCount, 'schedule')}
        </span>
        <button type="button" className="end" aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
          Add a schedule
        </button>
        <Holds project={project} />
      </div>
      {isAdding && <CreateSchedule project={project} onDone={() => store?.refresh()} />}
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!store?.answer && !store?.error && <Loading what="schedules" />}
      {store?.answer && schedules.length === 0 && (
        <Empty title={`Nothing starts by itself${project ? ` in ${project}` : ''}.`}>
          A schedule starts an event, a task or a job of an installation at its times. Add one here, or{' '}
          <code>phaseline schedule apply -f FILE</code>.
        </Empty>
      )}
      {schedules.length > 0 && (
        <>
          <Calendar
            filter={filter}
            onChange={onChange}
            schedules={schedules}
            zones={schedules.map(({ scheduleSpec }) => scheduleSpec?.timeZone ?? 'UTC')}
            asked={LISTED_TIMES}
          />
          <section className="card" aria-label="All schedules">
            <ul className="things">
              {schedules.map((schedule) => (
                <Row key={schedule.id} schedule={schedule} filter={filter} />
              ))}
            </ul>
            {totalCount > schedules.length && (
              <p className="quiet">
                The first {schedules.length} of {totalCount.toLocaleString('en')} by name. Choose a project for fewer.
              </p>
            )}
          </section>
        </>
      )}
    </div>
  )
}

function Row({ schedule, filter }: { readonly schedule: ListedSchedule; readonly filter: CalendarFilter }) {
  const { id, name, phase, project, due, pausedBecause, scheduleSpec, firings } = schedule
  const last = firings.edges[0]?.node
  return (
    <li>
      <span className="thing-name">
        <Link href={`/schedules${CALENDAR_FILTER.write({ ...filter, id })}`}>{name}</Link>{' '}
        {filter.project === '' && <span className="quiet">{project.name}</span>}
      </span>
      <span className="thing-end">
        <Phase phase={phase} /> {due && <Until at={due} />}
      </span>
      <span className="thing-why">
        {scheduleSpec?.words}
        {pausedBecause && `; paused: ${pausedBecause}`}
        {last && `; last ${last.reason ?? last.outcome}`}
      </span>
    </li>
  )
}
