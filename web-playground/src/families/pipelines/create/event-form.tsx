import { useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { projectChoices } from '../../../data/choices.ts'
import { ask } from '../../../data/create.ts'
import { useDraft } from '../../../pages/create/drafts.ts'
import { ExampleBar } from '../../../pages/create/example-bar.tsx'
import { useMayNot } from '../../../pages/create/may.ts'
import { Submit } from '../../../pages/create/submit.tsx'
import { useCreate } from '../../../pages/create/use-create.ts'
import { treeHref } from '../../../ui/links.ts'
import { useLive, useSession } from '../../../ui/session-context.ts'
import { CREATE_EVENT, type CreatedEvents } from '../data.ts'
import { type EventValues, eventInput, missingIn } from '../model/event-values.ts'
import { EventFields } from './event-fields.tsx'
import { EventResult } from './event-result.tsx'
import { EVENTS } from './examples.ts'

const EMPTY: EventValues = { project: '', source: '', type: '', qualifiers: [], labels: [], payload: '' }
const FIELDS = ['project', 'source', 'type', 'qualifiers', 'labels', 'payload'].map((name) => `input.${name}`)

export function EventForm() {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const mayNot = useMayNot()
  const params = new URLSearchParams(useSearch())
  const [wanted, project] = [params.get('example'), params.get('on')]
  const example = EVENTS.find(({ name }) => name === wanted)
  const initial = example?.values ?? (project === null ? null : { ...EMPTY, project })
  const [values, setValues, dropDraft] = useDraft('event', initial, EMPTY)
  const projects = useLive('projects', projectChoices)?.answer ?? null
  const [result, setResult] = useState<CreatedEvents | null>(null)
  const { busy, refused, forget, create } = useCreate()
  const set = (next: Partial<EventValues>): void => {
    setValues({ ...values, ...next })
    setResult(null)
    forget()
  }
  const done = (created: CreatedEvents): void => {
    const [only, more] = [...created.events, ...created.tasks]
    setResult(created)
    if (!only || more) return
    dropDraft()
    navigate(treeHref(only.root.id))
  }
  const missing = missingIn(values)
  return (
    <form
      className="create-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!missing) void create(eventInput(values), (input) => ask(client, CREATE_EVENT, input), done)
      }}
    >
      <ExampleBar examples={EVENTS} chosen={example?.name ?? null} onChoose={(one) => set(one.values)} />
      <EventFields values={values} projects={projects} refused={refused} set={set} />
      <Submit label="Create" busy={busy} missing={mayNot ?? missing} refused={refused} fields={FIELDS} />
      {result && <EventResult result={result} />}
    </form>
  )
}
