import { useState } from 'react'
import { Link } from 'wouter'
import { treeHref } from '../../../ui/links.ts'
import { Since } from '../../../ui/phase.tsx'
import { ScrollingText } from '../../../ui/scrolling-text.tsx'
import { useLive, useSession } from '../../../ui/session-context.ts'
import { DeleteButton, ThingsCard } from '../../../ui/things-card.tsx'
import { useAct } from '../../../ui/use-act.ts'
import type { Removal } from '../../../ui/use-removal.tsx'
import { CreateHook } from './create-hook.tsx'
import { type Delivery, type Hook, hooksOf, readDelivery } from './hooks-store.ts'

interface Props {
  readonly project: string
  readonly mayWrite: boolean
}

/** The hooks of a project with what they received, and a form to create one. The server never returns secrets. */
export default function Hooks({ project, mayWrite }: Props) {
  const store = useLive(project, (session, signal) => hooksOf(session, project, signal))
  const refresh = () => store?.refresh()
  const acting = useAct(refresh)
  if (!store?.answer) return null
  const { hooks, totalCount } = store.answer
  const replay = ({ id }: Delivery): void =>
    void acting.ask({
      field: 'replayDelivery',
      input: 'ReplayDeliveryInput',
      done: 'The delivery was played again: its outcome is above.',
      variables: { id },
    })
  return (
    <ThingsCard
      id="hooks"
      title="Hooks"
      about="Addresses to which GitHub, GitLab and others post what has happened there. Each delivery that a hook wants becomes an event, once."
      things={hooks}
      row={(hook, onDelete) => <Row key={hook.id} hook={hook} onDelete={onDelete} onReplay={onDelete && replay} />}
      total={totalCount}
      mayWrite={mayWrite}
      deletion={{ field: 'deleteHook', of: removalOf }}
      acting={acting}
      form={<CreateHook project={project} onDone={refresh} />}
    />
  )
}

const removalOf = ({ id, name }: Hook): Removal => ({
  name,
  text: `Delete the hook ${name} with its secrets and deliveries. Its events stay.`,
  variables: { id },
})

interface RowProps {
  readonly hook: Hook
  readonly onDelete: (() => void) | null
  readonly onReplay: ((delivery: Delivery) => void) | null
}
function Row({ hook, onDelete, onReplay }: RowProps) {
  const { name, path, format, description, disabled, filter, projects, editor, deliveries } = hook
  const shown = deliveries.edges.map(({ node }) => node)
  const last = shown[0]
  return (
    <li>
      <span className="thing-name">
        <b>{name}</b> <code>{format}</code> {disabled && <b className="problem">disabled</b>}
      </span>
      <span className="thing-end quiet">
        {last ? (
          <>
            {last.outcome} <Since at={last.at} /> ago{' '}
          </>
        ) : (
          'no delivery yet '
        )}
        <DeleteButton name={name} onDelete={onDelete} />
      </span>
      <span className="thing-why">
        {description && `${description}; `}
        <code>
          {location.origin}
          {path}
        </code>
        , with the rights of {editor}
      </span>
      {projects && <span className="thing-why">events of {projects.join(' or ')}, as a delivery chooses</span>}
      {filter !== null && (
        <span className="thing-why">
          only if <code>{filter}</code>
        </span>
      )}
      {shown.length > 0 && (
        <details className="thing-why">
          <summary>{`${deliveries.totalCount ?? shown.length} received`}</summary>
          <ul className="things" aria-label={`Deliveries of ${name}`}>
            {shown.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} onReplay={onReplay} />
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

interface DeliveryProps {
  readonly delivery: Delivery
  readonly onReplay: ((delivery: Delivery) => void) | null
}
function DeliveryRow({ delivery, onReplay }: DeliveryProps) {
  const { id, at, outcome, reason, deliveryId, started } = delivery
  const session = useSession()
  const [text, setText] = useState<string | null>(null)
  const show = async (isOpen: boolean): Promise<void> => {
    if (isOpen) setText((await readDelivery(session, id).catch(() => null)) ?? 'It cannot be read.')
  }
  return (
    <li>
      <span className="thing-name">
        <b>{outcome}</b> {started && <Link href={treeHref(started.id)}>{started.name}</Link>}
      </span>
      <span className="thing-end quiet">
        <Since at={at} /> ago{' '}
        {onReplay && (
          <button type="button" aria-label={`Play again: ${deliveryId ?? id}`} onClick={() => onReplay(delivery)}>
            Play again
          </button>
        )}
      </span>
      {reason !== null && <span className="thing-why">{reason}</span>}
      <details className="thing-why" onToggle={({ currentTarget }) => void show(currentTarget.open)}>
        <summary>{deliveryId ?? 'Headers and body'}</summary>
        {text !== null && <ScrollingText>{text}</ScrollingText>}
      </details>
    </li>
  )
}
