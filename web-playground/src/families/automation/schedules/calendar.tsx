import { Link } from 'wouter'
import { plural } from '../../../model/words.ts'
import { clocksIn, fullNameOfDay, monthOfDay, nameOfDay, viewerZone, weekdayOfDay } from '../../../ui/exact-time.ts'
import {
  CALENDAR_FILTER,
  type CalendarFilter,
  type Counts,
  daysShown,
  type Entry,
  entriesByDay,
  summed,
  type Timed,
  turned,
  VIEWS,
} from '../model/calendar.ts'

interface Props {
  readonly filter: CalendarFilter
  readonly onChange: (next: CalendarFilter) => void
  readonly schedules: readonly Timed[]
  /** Time zones of the schedules. */
  readonly zones: readonly string[]
  /** Length of the list of next times. */
  readonly asked: number
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** The firings so far, by day and outcome, and the next times. */
export function Calendar({ filter, onChange, schedules, zones, asked }: Props) {
  const zone = filter.zone || viewerZone()
  const clocks = clocksIn(zone)
  const today = clocks.dayOf(new Date())
  const view = filter.view ?? 'month'
  const date = filter.day || today
  const days = daysShown(view, date)
  const { entries, openFrom } = entriesByDay(schedules, clocks, asked)
  const choices = [...new Set([viewerZone(), 'UTC', ...zones, zone])]
  return (
    <section className="card calendar" aria-label="Calendar">
      <div className="calendar-head">
        <h2>
          {view === 'month'
            ? monthOfDay(date)
            : `${nameOfDay(days[0] ?? date)} – ${fullNameOfDay(days.at(-1) ?? date)}`}
        </h2>
        <div className="calendar-turn">
          <button
            type="button"
            aria-label="Before"
            onClick={() => onChange({ ...filter, day: turned(view, date, -1) })}
          >
            ‹
          </button>
          <button type="button" disabled={date === today} onClick={() => onChange({ ...filter, day: '' })}>
            Today
          </button>
          <button type="button" aria-label="After" onClick={() => onChange({ ...filter, day: turned(view, date, 1) })}>
            ›
          </button>
        </div>
        <fieldset className="tabs" aria-label="View">
          {VIEWS.map((one) => (
            <button
              key={one}
              type="button"
              aria-current={one === view ? 'true' : undefined}
              onClick={() => onChange({ ...filter, view: one === 'month' ? null : one })}
            >
              {one === 'month' ? 'Month' : 'Week'}
            </button>
          ))}
        </fieldset>
        <select
          aria-label="Time zone"
          value={zone}
          onChange={({ target }) => onChange({ ...filter, zone: target.value === viewerZone() ? '' : target.value })}
        >
          {choices.map((one) => (
            <option key={one} value={one}>
              {one === viewerZone() ? `${one} (yours)` : one}
            </option>
          ))}
        </select>
      </div>
      <ol className={`calendar-days by-${view}`}>
        {view === 'month' &&
          WEEKDAYS.map((name) => (
            <li key={name} className="calendar-weekday" aria-hidden="true">
              {name}
            </li>
          ))}
        {days.map((one) => (
          <Day
            key={one}
            date={one}
            entries={entries.get(one) ?? []}
            view={view}
            isToday={one === today}
            isOther={view === 'month' && one.slice(0, 7) !== date.slice(0, 7)}
            hasMore={openFrom !== null && one >= openFrom}
            filter={filter}
          />
        ))}
      </ol>
      <p className="quiet calendar-legend">
        {MEANINGS.map(([what, meaning]) => (
          <span key={what}>
            <b className={`is-${CLASSES[what]}`} aria-hidden="true">
              {SYMBOLS[what]}
            </b>{' '}
            {meaning}
          </span>
        ))}
        {openFrom !== null && <span>the next {asked} of each schedule are listed</span>}
      </p>
    </section>
  )
}

const SYMBOLS = { fired: '✓', skipped: '–', refused: '✗', waiting: '…', next: '○' } as const
const CLASSES = { fired: 'done', skipped: 'skipped', refused: 'failed', waiting: 'waiting', next: 'active' } as const
const MEANINGS = [
  ['fired', 'has started something'],
  ['skipped', 'skipped'],
  ['refused', 'refused'],
  ['waiting', 'waits'],
  ['next', 'is to come'],
] as const

interface DayProps {
  readonly date: string
  readonly entries: readonly Entry[]
  readonly view: 'month' | 'week'
  readonly isToday: boolean
  readonly isOther: boolean
  readonly hasMore: boolean
  readonly filter: CalendarFilter
}
/** Entries of a day that a month has room for. */
const FEW = 3

function Day({ date, entries, view, isToday, isOther, hasMore, filter }: DayProps) {
  const name = view === 'week' ? weekdayOfDay(date) : nameOfDay(date)
  const shown = view === 'week' ? entries : entries.slice(0, FEW)
  const isOne = filter.id !== ''
  return (
    <li className={`calendar-day${isOther ? ' other' : ''}`} aria-current={isToday ? 'date' : undefined}>
      <time dateTime={date} title={name}>
        {view === 'week' ? name : Number(date.slice(8))}
      </time>
      {entries.length > 0 && (
        <span className="calendar-sum">
          <Numbers counts={summed(entries)} next={entries.reduce((sum, { next }) => sum + next.length, 0)} />
        </span>
      )}
      <ul>
        {shown.map((entry) => (
          <li key={entry.id}>
            {!isOne && (
              <Link href={`/schedules${CALENDAR_FILTER.write({ ...filter, id: entry.id })}`} title={entry.name}>
                {entry.name}
              </Link>
            )}{' '}
            {!isOne && view === 'week' && <Numbers counts={entry} next={0} />} <Next next={entry.next} view={view} />
          </li>
        ))}
        {entries.length > shown.length && <li className="quiet">and {entries.length - shown.length} more</li>}
      </ul>
      {hasMore && <span className="quiet calendar-more">and more</span>}
    </li>
  )
}

function Next({ next, view }: { readonly next: readonly string[]; readonly view: 'month' | 'week' }) {
  const shown = next.slice(0, view === 'week' ? 12 : 2)
  if (shown.length === 0) return null
  return (
    <span className="is-active" title={next.join(', ')}>
      {shown.join(', ')}
      {next.length > shown.length && ` +${next.length - shown.length}`}
    </span>
  )
}

const WORDS = { fired: 'fired', skipped: 'skipped', refused: 'refused', waiting: 'waiting' } as const
function Numbers({ counts, next }: { readonly counts: Counts; readonly next: number }) {
  return (
    <>
      {(['refused', 'fired', 'skipped', 'waiting'] as const).map(
        (what) =>
          counts[what] > 0 && (
            <span key={what} className={`is-${CLASSES[what]}`} title={`${counts[what]} ${WORDS[what]}`}>
              <span aria-hidden="true">{SYMBOLS[what]}</span>
              {counts[what].toLocaleString('en')}
              <span className="hidden"> {WORDS[what]} </span>
            </span>
          ),
      )}
      {next > 0 && (
        <span className="is-active" title={`${plural(next, 'time')} to come`}>
          <span aria-hidden="true">{SYMBOLS.next}</span>
          {next}
          <span className="hidden"> to come</span>
        </span>
      )}
    </>
  )
}
