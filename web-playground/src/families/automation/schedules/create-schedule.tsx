import { type FormEvent, useEffect, useState } from 'react'
import { gql } from '../../../data/gql.ts'
import { messageOf } from '../../../data/live-read.ts'
import { useSettled } from '../../../pages/create/use-settled.ts'
import { viewerZone } from '../../../ui/exact-time.ts'
import { useSession } from '../../../ui/session-context.ts'
import { Outcome } from '../../../ui/states.tsx'
import { useAct } from '../../../ui/use-act.ts'
import { NextTimes } from './one-schedule.tsx'

const TIMES = gql(
  `query TimesOfSchedule($when: ScheduleWhenInput!) { timesInWords(when: $when) nextTimes(when: $when, first: 10) }`,
)
/** A pause in typing. */
const TYPED_MS = 300

interface Times {
  readonly words: string
  readonly times: readonly string[]
}

interface Props {
  /** Empty: the form asks. */
  readonly project: string
  readonly onDone: () => Promise<unknown> | undefined
}
/** Creates a schedule with one line of cron; shows its times in words, and the next ten, while it is written. */
export function CreateSchedule({ project, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [fields, setFields] = useState({
    ...{ name: '', project: project || 'default', cron: '30 2 * * 1-5', zone: viewerZone(), run: 'event' },
    ...{ source: 'schedule', type: '', installation: '' },
  })
  const { name, cron, zone, run, source, type, installation } = fields
  const change = (changed: Partial<typeof fields>): void => setFields({ ...fields, ...changed })
  const { found, problem } = useTimes(cron, zone)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const started =
      run === 'event' ? { createEvent: { source, type } } : { reconcileInstallation: { name: installation } }
    const when = { cron: [cron], timeZone: zone }
    const variables = { project: fields.project, name, when, run: started }
    const { ok } = await ask({
      field: 'createSchedule',
      input: 'CreateScheduleInput',
      done: `${name} is created.`,
      variables,
    })
    if (ok) change({ name: '' })
  }
  const text = (label: string, key: 'project' | 'name' | 'cron' | 'zone' | 'source' | 'type' | 'installation') => (
    <label>
      <span>{label}</span>
      <input
        value={fields[key]}
        required
        spellCheck={false}
        autoComplete="off"
        onChange={({ target }) => change({ [key]: target.value })}
      />
    </label>
  )
  return (
    <section className="card" aria-label="Add a schedule">
      <form className="inline-form" onSubmit={(event) => void submit(event)}>
        {text('Name', 'name')}
        {text('Project', 'project')}
        {text('Cron', 'cron')}
        {text('Time zone', 'zone')}
        <label>
          <span>Starts</span>
          <select value={run} onChange={({ target }) => change({ run: target.value })}>
            <option value="event">an event</option>
            <option value="installation">a job of an installation</option>
          </select>
        </label>
        {run === 'event' ? (
          <>
            {text('Source', 'source')}
            {text('Type', 'type')}
          </>
        ) : (
          text('Installation', 'installation')
        )}
        <button type="submit" disabled={busy || found === null}>
          Add schedule
        </button>
      </form>
      <Outcome result={result} />
      <div className="schedule-preview" aria-live="polite">
        {problem && <p className="problem">{problem}</p>}
        {found && (
          <>
            <p className="schedule-words">{found.words}</p>
            <NextTimes times={found.times} />
          </>
        )}
      </div>
      <p className="quiet">
        Overlap, catch-up, tasks and templates: <code>phaseline schedule apply -f FILE</code>
      </p>
    </section>
  )
}

function useTimes(cron: string, zone: string): { readonly found: Times | null; readonly problem: string | null } {
  const { client } = useSession()
  const settled = useSettled(JSON.stringify([cron, zone]), TYPED_MS)
  const [state, setState] = useState<{ readonly found: Times | null; readonly problem: string | null }>(EMPTY)
  useEffect(() => {
    const stop = new AbortController()
    const [line, timeZone] = JSON.parse(settled) as [string, string]
    client.query(TIMES, { when: { cron: [line], timeZone } }, { signal: stop.signal }).then(
      ({ timesInWords, nextTimes }) =>
        setState({ found: { words: timesInWords ?? '', times: nextTimes ?? [] }, problem: null }),
      (error: unknown) => stop.signal.aborted || setState({ found: null, problem: messageOf(error) }),
    )
    return () => stop.abort()
  }, [client, settled])
  return state
}
const EMPTY = { found: null, problem: null }
