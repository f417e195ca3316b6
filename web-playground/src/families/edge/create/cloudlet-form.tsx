import { useLocation, useSearch } from 'wouter'
import { projectChoices } from '../../../data/choices.ts'
import { ask } from '../../../data/create.ts'
import { type Pair, pairProblems, pairsInput } from '../../../model/pairs.ts'
import { problemOf } from '../../../model/refusal.ts'
import { useDraft } from '../../../pages/create/drafts.ts'
import { ExampleBar } from '../../../pages/create/example-bar.tsx'
import { ProjectField, TextField } from '../../../pages/create/fields.tsx'
import { useMayNot } from '../../../pages/create/may.ts'
import { PairsField } from '../../../pages/create/pairs-field.tsx'
import { Submit } from '../../../pages/create/submit.tsx'
import { useCreate } from '../../../pages/create/use-create.ts'
import { treeHref } from '../../../ui/links.ts'
import { useLive, useSession } from '../../../ui/session-context.ts'
import { CREATE_CLOUDLET } from '../data.ts'
import { CrmHint } from './crm-hint.tsx'
import { CLOUDLETS } from './examples.ts'

interface Values {
  readonly project: string
  readonly name: string
  readonly labels: readonly Pair[]
}
const EMPTY: Values = { project: 'default', name: '', labels: [] }
const FIELDS = ['input.project', 'input.name', 'input.labels']

export function CloudletForm() {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const mayNot = useMayNot()
  const wanted = new URLSearchParams(useSearch()).get('example')
  const example = CLOUDLETS.find(({ name }) => name === wanted)
  const [values, setValues, dropDraft] = useDraft('cloudlet', example ? { ...EMPTY, ...example.values } : null, EMPTY)
  const { project, name, labels } = values
  const projects = useLive('projects', projectChoices)?.answer ?? null
  const { busy, refused, forget, create } = useCreate()
  const set = (next: Partial<Values>): void => {
    setValues({ ...values, ...next })
    forget()
  }
  const missing = name === '' ? 'Give it a name.' : pairProblems(labels).some(Boolean) ? 'Fix the labels.' : null
  return (
    <form
      className="create-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (missing) return
        const send = (input: object) => ask(client, CREATE_CLOUDLET, input)
        void create({ project, name, labels: pairsInput(labels) }, send, ({ root }) => {
          dropDraft()
          navigate(treeHref(root.id))
        })
      }}
    >
      <ExampleBar examples={CLOUDLETS} chosen={example?.name ?? null} onChoose={(one) => set(one.values)} />
      <div className="fields">
        <TextField
          label="Name"
          value={name}
          onChange={(typed) => set({ name: typed.trim() })}
          problem={problemOf(refused, 'input.name')}
          help="Its CRM is told it by this name."
        />
        <ProjectField
          value={project}
          projects={projects}
          onChange={(chosen) => set({ project: chosen })}
          problem={problemOf(refused, 'input.project')}
        />
      </div>
      <PairsField
        label="Labels"
        noun="label"
        pairs={labels}
        onChange={(next) => set({ labels: next })}
        help="To find it by."
        problem={problemOf(refused, 'input.labels')}
      />
      <Submit label="Create" busy={busy} missing={mayNot ?? missing} refused={refused} fields={FIELDS} />
      <CrmHint name={name || 'north'} />
    </form>
  )
}
