import { taskInput } from 'phaseline/manifest'
import { useLocation, useSearch } from 'wouter'
import { createObject } from '../../data/create.ts'
import { readTask } from '../../model/manifest-text.ts'
import { treeHref } from '../../ui/links.ts'
import { useSession } from '../../ui/session-context.ts'
import { useDraft } from './drafts.ts'
import { EditorField } from './editor-field.tsx'
import { ExampleBar } from './example-bar.tsx'
import { TASKS } from './examples.ts'
import { ManifestFields, useFields } from './manifest-fields.tsx'
import { useMayNot } from './may.ts'
import { Submit } from './submit.tsx'
import { useCreate } from './use-create.ts'
import { useRead } from './use-read.ts'

const EMPTY = 'kind: Task\nname: my-task\njobs: []\n'

/** The file of `phaseline task run`. */
export function TaskForm() {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const mayNot = useMayNot()
  const wanted = new URLSearchParams(useSearch()).get('example')
  const example = TASKS.find(({ name }) => name === wanted)
  const [text, setText, dropDraft] = useDraft('task', example?.text ?? null, EMPTY)
  const { busy, refused, forget, create } = useCreate()
  const change = (next: string): void => {
    setText(next)
    forget()
  }
  const { judged, read, problems } = useRead(text, readTask, refused)
  const fields = useFields(text, judged)
  const submit = (): void => {
    if (!read.ok || judged !== text) return
    void create(
      taskInput(read.value, 'default'),
      (input) => createObject(client, 'createTask', input),
      ({ root }) => {
        dropDraft()
        navigate(treeHref(root.id))
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
      <ExampleBar examples={TASKS} chosen={example?.name ?? null} onChoose={(one) => change(one.text)} />
      <ManifestFields
        text={text}
        fields={fields}
        onChange={change}
        refused={refused}
        about="A task runs once: a second one needs another name."
      />
      <EditorField label="Jobs" value={text} problems={problems} onChange={change} />
      <Submit
        label="Create"
        busy={busy}
        missing={mayNot ?? (read.ok ? null : 'Mend what is marked first.')}
        refused={refused}
        fields={['input']}
      />
    </form>
  )
}
