import type { Outcome } from 'phaseline/client-model'
import { useLocation, useSearch } from 'wouter'
import { ask } from '../../../data/create.ts'
import { readSpec } from '../../../model/manifest-text.ts'
import { type Pair, pairProblems, pairsInput } from '../../../model/pairs.ts'
import { problemOf } from '../../../model/refusal.ts'
import { useDraft } from '../../../pages/create/drafts.ts'
import { EditorField } from '../../../pages/create/editor-field.tsx'
import { ExampleBar } from '../../../pages/create/example-bar.tsx'
import { TextField } from '../../../pages/create/fields.tsx'
import { useMayNot } from '../../../pages/create/may.ts'
import { PairsField } from '../../../pages/create/pairs-field.tsx'
import { Submit } from '../../../pages/create/submit.tsx'
import { useCreate } from '../../../pages/create/use-create.ts'
import { useRead } from '../../../pages/create/use-read.ts'
import { treeHref } from '../../../ui/links.ts'
import { useSession } from '../../../ui/session-context.ts'
import { CREATE_APP, CREATE_CLUSTER } from '../data.ts'
import { APPS, CLUSTERS } from './examples.ts'
import { PlaceField } from './place-field.tsx'
import { useReady } from './use-ready.ts'

const KINDS = {
  cluster: { on: 'CLOUDLET', onField: 'cloudletId', examples: CLUSTERS },
  app: { on: 'CLUSTER_INST', onField: 'clusterInstId', examples: APPS },
} as const
interface Created {
  readonly id: string
  readonly root: { readonly id: string }
}
interface Values {
  /** Empty: the only cloudlet or cluster is chosen, if there is one. */
  readonly on: string
  readonly name: string
  readonly labels: readonly Pair[]
  readonly text: string
}
const EMPTY: Values = { on: '', name: '', labels: [], text: '{}\n' }

export const ClusterForm = () => <InstanceForm what="cluster" />
export const AppForm = () => <InstanceForm what="app" />

/** Creates a cluster on a READY cloudlet, or an app in a READY cluster. */
function InstanceForm({ what }: { readonly what: keyof typeof KINDS }) {
  const { on, onField, examples } = KINDS[what]
  const { client } = useSession()
  const [, navigate] = useLocation()
  const mayNot = useMayNot()
  const params = new URLSearchParams(useSearch())
  const example = examples.find(({ name }) => name === params.get('example'))
  const asked = params.get('on')
  const initial = { ...EMPTY, ...example?.values, text: example?.text ?? EMPTY.text, on: asked ?? '' }
  const [values, setValues, dropDraft] = useDraft(what, example || asked ? initial : null, EMPTY)
  const { busy, refused, forget, create } = useCreate()
  const places = useReady(on)
  const { name, labels, text } = values
  const rows = places?.rows ?? []
  const placeId = values.on === '' && rows.length === 1 ? (rows[0]?.id ?? '') : values.on
  const place = rows.find(({ id }) => id === placeId)
  const set = (next: Partial<Values>): void => {
    setValues({ ...values, ...next })
    forget()
  }
  const { read, readNow, problems } = useRead(text, readSpec, refused, 'input.spec')
  const missing = place
    ? missingIn(values, read.ok)
    : `Choose the ${what === 'cluster' ? 'cloudlet' : 'cluster'} that it is to stand on.`
  return (
    <form
      className="create-form"
      onSubmit={(event) => {
        event.preventDefault()
        const wanted = readNow()
        if (missing || !wanted.ok) return
        const input = { [onField]: placeId, name, labels: pairsInput(labels), spec: wanted.value }
        const send = (keyed: object): Promise<Outcome<Created>> =>
          what === 'cluster' ? ask(client, CREATE_CLUSTER, keyed) : ask(client, CREATE_APP, keyed)
        void create(input, send, ({ id, root }) => {
          dropDraft()
          navigate(treeHref(root.id, id))
        })
      }}
    >
      <ExampleBar
        examples={examples}
        chosen={example?.name ?? null}
        onChoose={(one) => set({ ...one.values, text: one.text ?? '' })}
      />
      <div className="fields">
        <PlaceField what={what} places={places} value={placeId} onChange={(id) => set({ on: id })} />
        <TextField
          label="Name"
          value={name}
          onChange={(typed) => set({ name: typed.trim() })}
          problem={problemOf(refused, 'input.name')}
          help={`Tells it from the other ${what}s there.`}
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
      <EditorField label="Spec" value={text} problems={problems} onChange={(next) => set({ text: next })} small />
      <Submit
        label="Create"
        busy={busy}
        missing={mayNot ?? missing}
        refused={refused}
        fields={['input.name', 'input.labels', 'input.spec']}
      />
    </form>
  )
}

function missingIn({ name, labels }: Values, isRead: boolean): string | null {
  if (name === '') return 'Give it a name.'
  if (pairProblems(labels).some(Boolean)) return 'Fix the labels.'
  return isRead ? null : 'Fix the errors in the spec.'
}
