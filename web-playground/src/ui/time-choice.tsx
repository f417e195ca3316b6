import { useEffect, useRef, useState } from 'react'
import { fromLocalTime, localTime, SPANS, TIME_FIELDS, type TimeRange } from '../model/time-range.ts'
import { Choice } from './choice.tsx'

interface Props<R extends TimeRange> {
  readonly range: R
  readonly onChange: (range: R) => void
}
const CHOSEN = 'chosen'

/** A filter of time: the last hour, day or week, or from and until a chosen date and time. */
export function TimeChoice<R extends TimeRange>({ range, onChange }: Props<R>) {
  const { last, since, until } = range
  const [isChoosing, setIsChoosing] = useState(false)
  const isChosen = isChoosing || since !== '' || until !== ''
  const choose = (value: string): void => {
    setIsChoosing(value === CHOSEN)
    onChange({ ...range, last: TIME_FIELDS.last.read(value), ...(value === CHOSEN ? {} : { since: '', until: '' }) })
  }
  return (
    <>
      <Choice label="When" value={last ?? (isChosen ? CHOSEN : '')} all="Any time" onChange={choose}>
        {[...Object.keys(SPANS).map((span) => [span, `Last ${span}`]), [CHOSEN, 'From … until …']]}
      </Choice>
      {!last && isChosen && (
        <>
          <Moment label="From" value={since} onChange={(next) => onChange({ ...range, since: next })} />
          <Moment label="Until" value={until} onChange={(next) => onChange({ ...range, until: next })} />
        </>
      )}
    </>
  )
}

interface MomentProps {
  readonly label: string
  /** ISO 8601; empty: none. */
  readonly value: string
  readonly onChange: (value: string) => void
}
/** The field keeps what is typed: a date that is not complete has no value yet, and would be emptied by it. */
function Moment({ label, value, onChange }: MomentProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const { current } = field
    if (current && !current.validity.badInput && current.value !== localTime(value)) current.value = localTime(value)
  }, [value])
  return (
    <label>
      <span>{label}</span>
      <input
        ref={field}
        type="datetime-local"
        defaultValue={localTime(value)}
        onChange={({ target }) => {
          if (!target.validity.badInput) onChange(fromLocalTime(target.value))
        }}
      />
    </label>
  )
}
