import { projectInput, wantedProject, writeProject } from 'phaseline/manifest'
import { useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { AskedStore } from '../../data/asked-store.ts'
import { ask } from '../../data/create.ts'
import { CREATE_PROJECT, readProjectSpec, UPDATE_PROJECT } from '../../data/project-spec.ts'
import { readProjectText } from '../../model/manifest-text.ts'
import { createHref, projectHref } from '../../ui/links.ts'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useDraft } from '../create/drafts.ts'
import { EditorField } from '../create/editor-field.tsx'
import { ExampleBar } from '../create/example-bar.tsx'
import { useMayNot } from '../create/may.ts'
import { Submit } from '../create/submit.tsx'
import { useCreate } from '../create/use-create.ts'
import { useRead } from '../create/use-read.ts'
import { useSettled } from '../create/use-settled.ts'
import { PROJECTS } from './examples.ts'

const EMPTY = 'kind: Project\nname: my-project\nsubscriptions: []\nworkerTemplate: null\n'

/** A new project, or an existing one with `?from=`. */
export function ProjectForm() {
  const params = new URLSearchParams(useSearch())
  const from = params.get('from')
  const example = PROJECTS.find(({ name }) => name === params.get('example'))
  if (from !== null) return <OpenedForm key={from} name={from} />
  return <Form initial={example?.text ?? null} example={example?.name ?? null} />
}

function OpenedForm({ name }: { readonly name: string }) {
  const store = useProject(name)
  const found = store?.answer
  if (store?.error && !found) return <Problem message={store.error} onRetry={store.refresh} />
  if (!found) return <Loading what="the project" />
  if (!found.project)
    return (
      <Empty title={`There is no project ${name} that you may see.`}>
        Start a <Link href={createHref('project')}>new one</Link>.
      </Empty>
    )
  // The form begins with the present project; a later read does not overwrite typed text.
  return <Form initial={writeProject(name, found.project)} example={null} />
}

const useProject = (name: string) =>
  useLive(name, (session, signal) => {
    const ask = async (asked: typeof session, reading: AbortSignal) => ({
      project: await readProjectSpec(asked, name, reading),
    })
    return new AskedStore(session, { ask, concerns: () => false }, signal)
  })

/** Milliseconds of a pause in typing. */
const TYPED_MS = 250

/** The newest value that could be read: what is being typed has mistakes most of the time. */
function useReadable(value: string | null): string {
  const [last, setLast] = useState(value ?? '')
  if (value !== null && value !== last) setLast(value)
  return value ?? last
}

function Form({ initial, example }: { readonly initial: string | null; readonly example: string | null }) {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const mayNot = useMayNot()
  const [text, setText, dropDraft] = useDraft('project', initial, EMPTY)
  const { busy, refused, forget, create } = useCreate()
  const { read, readNow, problems } = useRead(text, readProjectText, refused)
  const name = useSettled(useReadable(read.ok ? read.value.name : null), TYPED_MS)
  const store = useProject(name)
  const isThere = Boolean(store?.answer?.project)
  // If the lookup fails, the server judges.
  const isLooking = read.ok && (name !== read.value.name || !(store?.answer || store?.error))
  const change = (next: string): void => {
    setText(next)
    forget()
  }
  const submit = (): void => {
    const wanted = readNow()
    if (!wanted.ok || isLooking || wanted.value.name !== name) return
    const contents = (wanted.value.workerTemplate?.files ?? []).map(({ content = '' }) => content)
    const input = { name: wanted.value.name, ...projectInput(wantedProject(wanted.value, contents)) }
    void create(
      input,
      () => (isThere ? ask(client, UPDATE_PROJECT, input) : ask(client, CREATE_PROJECT, input)),
      () => {
        dropDraft()
        navigate(projectHref(input.name))
      },
    )
  }
  return (
    <form
      className="create-form"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <ExampleBar examples={PROJECTS} chosen={example} onChoose={(one) => change(one.text)} />
      <EditorField label="Project" kind="Project" value={text} problems={problems} onChange={change} />
      <p className="quiet" role="status">
        {!read.ok
          ? 'Fix the errors first.'
          : isLooking
            ? `Looking for ${read.value.name}…`
            : isThere
              ? `There is ${name} already: this would update it. Fields that are left out stay as they are; null removes one.`
              : `A new project, ${read.value.name}.`}
      </p>
      <Submit
        label={isThere ? 'Update' : 'Create'}
        busy={busy}
        missing={
          mayNot ??
          (read.ok ? null : 'Fix the errors first.') ??
          (isLooking ? 'Looking whether it is there already.' : null)
        }
        refused={refused}
        fields={['input']}
      />
    </form>
  )
}
