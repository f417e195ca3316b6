import { Link } from 'wouter'
import type { ListStore } from '../../../data/list-store.ts'
import { Field } from '../../../pages/create/fields.tsx'
import { createHref, objectsHref } from '../../../ui/links.ts'

interface Props {
  readonly what: 'cluster' | 'app'
  readonly places: ListStore | null
  readonly value: string
  readonly onChange: (id: string) => void
}

/** The parent of the new instance: only READY ones can be chosen. */
export function PlaceField({ what, places, value, onChange }: Props) {
  const noun = what === 'cluster' ? 'cloudlet' : 'cluster'
  const rows = places?.rows ?? []
  const isLost = places?.loaded && places.complete && value !== '' && !rows.some(({ id }) => id === value)
  return (
    <Field
      label={noun === 'cloudlet' ? 'Cloudlet' : 'Cluster'}
      problem={places?.error ?? (isLost ? `The ${noun} that was chosen is not READY any more.` : null)}
      help={
        places?.loaded && rows.length === 0 ? (
          <Nothing what={what} />
        ) : (
          `Only READY ones${noun === 'cluster' ? ', with the cloudlet that they are on' : ''}.`
        )
      }
    >
      {(control) => (
        <select {...control} value={isLost ? '' : value} onChange={({ target }) => onChange(target.value)}>
          <option value="">{places?.loaded ? 'Choose…' : 'Reading…'}</option>
          {rows.map(({ id, name, root, project }) => (
            <option key={id} value={id}>
              {root.id === id ? name : `${name} on ${root.name}`}
              {project.name === 'default' ? '' : ` (${project.name})`}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function Nothing({ what }: { readonly what: 'cluster' | 'app' }) {
  if (what === 'cluster')
    return (
      <>
        No cloudlet is READY: <Link href={createHref('cloudlet')}>create one</Link>, or see why{' '}
        <Link href={objectsHref({ kinds: ['CLOUDLET'] })}>those that there are</Link> are not.
      </>
    )
  return (
    <>
      No cluster is READY: <Link href={createHref('cluster')}>create one</Link>, or see why{' '}
      <Link href={objectsHref({ kinds: ['CLUSTER_INST'] })}>those that there are</Link> are not.
    </>
  )
}
