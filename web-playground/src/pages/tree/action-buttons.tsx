import { useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
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
  readonly onDone: () => Promise<unknown> | undefined
}

/** The actions of this viewer on the object, as it is now. */
export function ActionButtons({ object, root, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [pressed, setPressed] = useState<Action | null>(null)
  const actions = [
    ...actionsFor(object),
    ...retriesFor(object, root),
    ...families().flatMap((family) => family.actionsFor?.(object, root) ?? []),
  ]
  const addressed = useAddressedVerb()
  const asked = pressed ?? actions.find(({ name }) => name === addressed.verb) ?? null
  const hindrance = asked ? undefined : object.verbs.find(({ name }) => name === addressed.verb)?.why
  const close = (): void => {
    setPressed(null)
    addressed.forget()
  }
  const run = (action: Action): void => {
    close()
    void ask({ ...action, done: `${action.label}: asked for.` })
  }
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
              onClick={() => (action.confirm ? setPressed(action) : run(action))}
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
      {hindrance && (
        <p role="status">
          Not possible now: {addressed.verb}. {hindrance}
        </p>
      )}
      {asked && (
        <ConfirmDialog
          title={`${asked.label} ${object.name}?`}
          text={(asked.confirm ?? asked.effect ?? 'This asks the server for it.').replace('{name}', object.name)}
          label={asked.label}
          danger={asked.danger}
          onConfirm={() => run(asked)}
          onClose={close}
        />
      )}
    </>
  )
}

/** A link may name a verb. Its question is opened then, and a person answers it. */
function useAddressedVerb(): { readonly verb: string | null; readonly forget: () => void } {
  const [path, navigate] = useLocation()
  const params = new URLSearchParams(useSearch())
  const verb = params.get('verb')
  const forget = (): void => {
    if (verb === null) return
    params.delete('verb')
    navigate(params.size > 0 ? `${path}?${params}` : path, { replace: true })
  }
  return { verb, forget }
}

/** A viewer without the right sees no button; what else is in the way may go. */
const isShown = ({ obstacle }: Refused): boolean => obstacle !== 'RIGHT'
