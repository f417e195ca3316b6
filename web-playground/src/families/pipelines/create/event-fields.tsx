import type { Refusal } from 'phaseline/client-model'
import { Link } from 'wouter'
import type { ProjectChoice } from '../../../data/choices.ts'
import { problemOf } from '../../../model/refusal.ts'
import { Field, ProjectField, TextField } from '../../../pages/create/fields.tsx'
import { PairsField } from '../../../pages/create/pairs-field.tsx'
import type { EventValues } from '../model/event-values.ts'

interface Props {
  readonly values: EventValues
  readonly projects: readonly ProjectChoice[] | null
  readonly refused: Refusal | null
  readonly set: (values: Partial<EventValues>) => void
}

export function EventFields({ values, projects, refused, set }: Props) {
  const subscriptions = (projects ?? []).flatMap((project) => project.subscriptions)
  return (
    <>
      <div className="fields">
        <ProjectField
          value={values.project}
          projects={projects}
          none="Each that has subscribed to it"
          onChange={(project) => set({ project })}
          problem={problemOf(refused, 'input.project')}
          help={<Subscribers known={projects !== null} count={subscriptions.length} chosen={values.project !== ''} />}
        />
        <TextField
          label="Source"
          value={values.source}
          suggestions={unique(subscriptions.map(({ source }) => source))}
          onChange={(source) => set({ source })}
          problem={problemOf(refused, 'input.source')}
          help="Where it comes from, e.g. github.com/acme."
        />
        <TextField
          label="Type"
          value={values.type}
          suggestions={unique(subscriptions.flatMap(({ types }) => types)).filter((type) => type !== '*')}
          onChange={(type) => set({ type })}
          problem={problemOf(refused, 'input.type')}
          help="What has happened, e.g. push."
        />
      </div>
      <EventPairs values={values} projects={projects} refused={refused} set={set} />
      <Field
        label="Payload"
        problem={problemOf(refused, 'input.payload')}
        help="Handed to the worker as it is; at most 512 KiB. Whoever sees the event can read it: no secrets."
      >
        {(control) => (
          <textarea
            {...control}
            rows={6}
            spellCheck={false}
            value={values.payload}
            onChange={({ target }) => set({ payload: target.value })}
          />
        )}
      </Field>
    </>
  )
}
function EventPairs({ values, refused, set }: Props) {
  return (
    <div className="fields">
      <PairsField
        label="Labels"
        noun="label"
        pairs={values.labels}
        onChange={(labels) => set({ labels })}
        help="A subscription may ask for some of them."
        problem={problemOf(refused, 'input.labels')}
      />
      <PairsField
        label="Qualifiers"
        noun="qualifier"
        pairs={values.qualifiers}
        onChange={(qualifiers) => set({ qualifiers })}
        help="A subscription must have exactly these."
        problem={problemOf(refused, 'input.qualifiers')}
      />
    </div>
  )
}

const unique = (words: readonly string[]): readonly string[] => [...new Set(words)].toSorted()

interface SubscribersProps {
  readonly known: boolean
  readonly count: number
  readonly chosen: boolean
}
function Subscribers({ known, count, chosen }: SubscribersProps) {
  if (chosen) return 'Its worker starts, whatever it has subscribed to.'
  if (!known || count > 0) return 'One event for each project that has subscribed to it, maybe none.'
  return (
    <>
      No project has subscribed to anything: nothing would be created. Choose a project, or give one a subscription on
      the page <Link href="/projects">Projects</Link>.
    </>
  )
}
