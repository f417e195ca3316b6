import { taskInput } from 'phaseline/manifest'
import { useLocation, useSearch } from 'wouter'
import { ask } from '../../../data/create.ts'
import { readTask } from '../../../model/manifest-text.ts'
import { useDraft } from '../../../pages/create/drafts.ts'
import { EditorField } from '../../../pages/create/editor-field.tsx'
import { ExampleBar } from '../../../pages/create/example-bar.tsx'
import { ManifestFields, useFields } from '../../../pages/create/manifest-fields.tsx'
import { useMayNot } from '../../../pages/create/may.ts'
import { Submit } from '../../../pages/create/submit.tsx'
import { useCreate } from '../../../pages/create/use-create.ts'
import { useRead } from '../../../pages/create/use-read.ts'
import { treeHref } from '../../../ui/links.ts'
import { useSession } from '../../../ui/session-context.ts'
import { CREATE_TASK } from '../data.ts'
import { TASKS } from './examples.ts'

const EMPTY = 'kind: Task\nname: my-task\njobs: []\n'

/** The file of `phaseline task run`. */
export function TaskForm() {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const mayNot = useMayNot()
  const asked = new URLSearchParams(useSearch()).get('example')
  const example = TASKS.find(({ name }) => name === asked)
  const [text, setText, dropDraft] = useDraft('task', example?.text ?? null, EMPTY)
  const { busy, refused, forget, create } = useCreate()
  const change = (next: string): void => {
    setText(next)
    forget()
  }
  const { judged, read, readNow, problems } = useRead(text, readTask, refused)
  const fields = useFields(text, judged)
  const submit = (): void => {
    const wanted = readNow()
    if (!wanted.ok) return
    void create(
      taskInput(wanted.value, 'default'),
      (input) => ask(client, CREATE_TASK, input),
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
      <EditorField label="Jobs" kind="Task" value={text} problems={problems} onChange={change} />
      <Submit
        label="Create"
        busy={busy}
        missing={mayNot ?? (read.ok ? null : 'Fix the errors first.')}
        refused={refused}
        fields={['input']}
      />
    </form>
  )
}
