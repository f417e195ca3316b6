import { useState } from 'react'
import { Link } from 'wouter'
import { families } from '../../families/index.ts'
import {
  type Actable,
  type Action,
  actionsFor,
  mayChange,
  type Refused,
  refusedFor,
  retriesFor,
} from '../../model/actions.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'

type Named = Actable & { readonly name: string }
interface Props {
  readonly object: Named
  /** The root of its tree; it may be the object. */
  readonly root: Named
  readonly onDone: () => void
}

/** The actions of this viewer on the object, as it is now. */
export function ActionButtons({ object, root, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [asked, setAsked] = useState<Action | null>(null)
  const run = (action: Action): void => {
    setAsked(null)
    void ask({ ...action, done: `${action.label}: asked for.` })
  }
  const actions = [...actionsFor(object), ...retriesFor(object, root)]
  const refused = refusedFor(object)
  const links = mayChange(object) ? families().flatMap((family) => family.linksFor(object)) : []
  return (
    <>
      {actions.length + links.length + refused.filter(isShown).length > 0 && (
        <div className="actions">
          {links.map(([label, href]) => (
            <Link key={label} href={href} className="button">
              {label}
            </Link>
          ))}
          {actions.map((action) => (
            <button
              key={action.name}
              type="button"
              disabled={busy}
              className={action.danger ? 'danger' : undefined}
              title={action.effect ?? undefined}
              onClick={() => (action.confirm ? setAsked(action) : run(action))}
            >
              {action.label}
            </button>
          ))}
          {refused.filter(isShown).flatMap(({ labels, why }) =>
            labels.map((label) => (
              <button key={label} type="button" disabled title={why}>
                {label}
              </button>
            )),
          )}
        </div>
      )}
      {actions.map(
        ({ name, label, effect }) =>
          effect !== null && (
            <p key={name} className="quiet">
              {label}: {effect}
            </p>
          ),
      )}
      {refused.map(({ labels, why }) => (
        <p key={why} className="quiet">
          {labels.join(', ')}: {why}
        </p>
      ))}
      <Outcome result={result} />
      {asked?.confirm && (
        <ConfirmDialog
          title={`${asked.label} ${object.name}?`}
          text={asked.confirm.replace('{name}', object.name)}
          label={asked.label}
          danger={asked.danger}
          onConfirm={() => run(asked)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  )
}

/** A viewer without the right sees no button; what else is in the way may go. */
const isShown = ({ obstacle }: Refused): boolean => obstacle !== 'RIGHT'
