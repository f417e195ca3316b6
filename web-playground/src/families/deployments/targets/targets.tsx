import { Link } from 'wouter'
import { plural } from '../../../model/words.ts'
import { treeHref } from '../../../ui/links.ts'
import { Since } from '../../../ui/phase.tsx'
import { useLive } from '../../../ui/session-context.ts'
import { DeleteButton, ThingsCard } from '../../../ui/things-card.tsx'
import { useAct } from '../../../ui/use-act.ts'
import type { Removal } from '../../../ui/use-removal.tsx'
import type { ProjectPartProps } from '../../family.ts'
import { SetTarget } from './set-target.tsx'
import { type Target, targetsOf } from './targets-store.ts'

/** The targets of a project: who serves them, what is there, and a form to set one. The server never returns credentials. */
export default function Targets({ project, mayWrite }: ProjectPartProps) {
  const store = useLive(project, (session, signal) => targetsOf(session, project, signal))
  const refresh = () => store?.refresh()
  const acting = useAct(refresh)
  const removalOf = ({ name }: Target): Removal => ({
    name,
    text: `Delete the target ${name} with its credentials. It is refused while deploy items are there.`,
    variables: { project, name },
  })
  if (!store?.answer) return null
  const { targets, totalCount } = store.answer
  return (
    <ThingsCard
      id="targets"
      title="Targets"
      about="Clusters and other places where deploy items go, by name or by labels. Deployers get the credentials with an item there; nobody reads them again."
      things={targets}
      row={(target, onDelete) => <Row key={target.name} target={target} onDelete={onDelete} />}
      total={totalCount}
      mayWrite={mayWrite}
      deletion={{ field: 'deleteTarget', of: removalOf }}
      acting={acting}
      form={<SetTarget project={project} known={targets} onDone={refresh} />}
    />
  )
}

interface RowProps {
  readonly target: Target
  readonly onDelete: (() => void) | null
}
function Row({ target, onDelete }: RowProps) {
  const { name, type, description, labels, hasCredentials, updatedAt } = target
  return (
    <li>
      <span className="thing-name">
        <b>{name}</b> <code>{type}</code>{' '}
        <span className="quiet">{labels.map(({ key, value }) => `${key}=${value}`).join(', ')}</span>
      </span>
      <span className="thing-end quiet">
        set <Since at={updatedAt} /> ago <DeleteButton name={name} onDelete={onDelete} />
      </span>
      <span className="thing-why">
        {description && `${description}; `}
        {hasCredentials ? 'credentials sealed' : 'no credentials'}
      </span>
      <Served target={target} />
      <Uses target={target} />
    </li>
  )
}

function Served({ target: { servingAgents: agents } }: { readonly target: Target }) {
  const count = agents?.totalCount ?? 0
  const names = agents?.edges.map(({ node }) => `${node.name} (${node.instance})`) ?? []
  const more = count - names.length
  return (
    <span className="thing-why">
      {count === 0 ? 'No connected deployer serves it.' : `Served by ${names.join(', ')}`}
      {more > 0 && ` and ${more} more`}
    </span>
  )
}

function Uses({ target: { uses } }: { readonly target: Target }) {
  const count = uses?.totalCount ?? 0
  const shown = uses?.edges ?? []
  if (count === 0) return null
  return (
    <span className="thing-why">
      Used by{' '}
      {shown.map(({ node: { root, itemCount } }, i) => (
        <span key={root?.id ?? i}>
          {i > 0 && ', '}
          {root ? <Link href={treeHref(root.id, root.id)}>{root.name}</Link> : 'another one'} (
          {plural(itemCount, 'item')})
        </span>
      ))}
      {count > shown.length && ` and ${count - shown.length} more`}
    </span>
  )
}
