import { useEffect, useRef, useState } from 'react'
import { readSequenceAt } from '../../data/changes-page.ts'
import { type HistoryStore, MOST_CHANGES } from '../../data/history-store.ts'
import { sentenceOf } from '../../model/moment.ts'
import { plural } from '../../model/words.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { useSession } from '../../ui/session-context.ts'
import { TimeField } from '../../ui/time-field.tsx'

interface Props {
  readonly history: HistoryStore
  readonly at: number | null
  readonly onTravel: (at: number | null) => void
}
const PLAY_MS = 400
/** The most steps of a replay, so that a log of any length takes about a minute. */
const PLAY_STEPS = 150

/** A slider through the log of the tree, change by change; its right end is the present. */
export function TimeBar({ history, at, onTravel }: Props) {
  const { client } = useSession()
  const { changes, rootId } = history.timeline
  const live = changes.length
  const index = at === null ? live : Math.max(0, history.timeline.indexAt(at))
  const go = (to: number): void => onTravel(to >= live ? null : (changes[Math.max(0, to)]?.sequence ?? null))
  const { plays, setPlays } = usePlay({ index, live, go })
  const change = at === null ? undefined : changes[index]
  return (
    <section className="time-bar" aria-label="Time" onPointerEnter={history.want} onFocus={history.want}>
      <button type="button" disabled={index <= 0} onClick={() => go(index - 1)} aria-label="Back one change">
        <span aria-hidden="true">◂</span>
      </button>
      <input
        type="range"
        min={0}
        max={live}
        step={1}
        value={index}
        aria-label="Moment of the tree"
        aria-valuetext={change ? `change ${change.sequence}: ${sentenceOf(change)}` : 'live'}
        onChange={({ target }) => {
          setPlays(false)
          go(Number(target.value))
        }}
      />
      <button type="button" disabled={at === null} onClick={() => go(index + 1)} aria-label="Forward one change">
        <span aria-hidden="true">▸</span>
      </button>
      <button type="button" disabled={live === 0} aria-pressed={plays} onClick={() => setPlays(!plays)}>
        {plays ? 'Pause' : 'Play'}
      </button>
      <button type="button" className="live" aria-pressed={at === null} onClick={() => onTravel(null)}>
        <span aria-hidden="true">●</span> Live
        {at !== null && index < live - 1 && (
          <span className="quiet"> ({plural(live - 1 - index, 'change')} later)</span>
        )}
      </button>
      <TimeField
        label="Time"
        action="Go"
        onTime={async (time) => {
          setPlays(false)
          onTravel(await readSequenceAt(client, { rootId, time }))
        }}
      />
      <Reach history={history} />
    </section>
  )
}

/** The first known change, where the log does not reach back to the beginning. */
export function Reach({ history }: { readonly history: HistoryStore }) {
  const first = history.timeline.changes[0]
  if (history.isComplete || !first) return null
  const since = dateTime(first.at)
  if (history.isReading) return <span className="quiet reach">reading older changes…</span>
  if (!history.hasOlder) return <span className="quiet reach">The log goes back to {since}.</span>
  if (history.timeline.changes.length < MOST_CHANGES) return null
  return (
    <span className="quiet reach">
      The newest {plural(history.timeline.changes.length, 'change')} are shown, since {since}.
    </span>
  )
}

function usePlay({ index, live, go }: { index: number; live: number; go: (to: number) => void }) {
  const [plays, setPlays] = useState(false)
  const next = useRef<() => void>(() => undefined)
  next.current = () => {
    const to = index >= live ? 0 : index + Math.ceil(live / PLAY_STEPS)
    if (to >= live) setPlays(false)
    go(to)
  }
  useEffect(() => {
    if (!plays) return
    next.current()
    const playing = setInterval(() => next.current(), PLAY_MS)
    return () => clearInterval(playing)
  }, [plays])
  return { plays, setPlays }
}
