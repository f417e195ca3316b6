import { PAST_TIME_EXAMPLES, parsePastTime } from 'phaseline/client-model'
import { useId, useState } from 'react'
import { messageOf } from '../data/live-read.ts'
import { viewerZone } from './exact-time.ts'

interface Props {
  readonly label: string
  /** The name of its button. */
  readonly action: string
  /** A failure is shown below the field. */
  readonly onTime: (time: Date) => void | Promise<void>
}

/** A past time as a person gives it, in the time zone beside it. */
export function TimeField({ label, action, onTime }: Props) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const id = useId()
  const submit = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault()
    const now = new Date()
    const time = parsePastTime(text, now)
    if (!time) return setProblem(`This is no time. Give one such as ${PAST_TIME_EXAMPLES}.`)
    if (time > now) return setProblem('This time is yet to come. Give a past one.')
    setProblem(null)
    try {
      await onTime(time)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <form className="time-field" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        value={text}
        placeholder="yesterday 9:00, 2h …"
        autoComplete="off"
        spellCheck={false}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-zone ${id}-problem`}
        onChange={({ target }) => {
          setText(target.value)
          setProblem(null)
        }}
      />
      <button type="submit">{action}</button>
      <span id={`${id}-zone`} className="quiet">
        {viewerZone()}
      </span>
      <span id={`${id}-problem`} className="problem" role="alert">
        {problem}
      </span>
    </form>
  )
}
