import { useState } from 'react'
import { Link } from 'wouter'
import { type Actable, type Action, actionsFor } from '../../model/actions.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { createHref } from '../../ui/links.ts'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'

interface Props {
  readonly object: Actable & { readonly name: string }
  readonly onDone: () => void
}

/** What can be done to the object now, by this viewer. */
export function ActionButtons({ object, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [asked, setAsked] = useState<Action | null>(null)
  const run = (action: Action): void => {
    setAsked(null)
    void ask({ ...action, done: `${action.label}: asked for.` })
  }
  const actions = actionsFor(object)
  const links = linksFor(object)
  return (
    <>
      {actions.length + links.length > 0 && (
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
              onClick={() => (action.confirm ? setAsked(action) : run(action))}
            >
              {action.label}
            </button>
          ))}
        </div>
      )}
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

/** Forms that begin with this object. */
function linksFor({ kind, id, parent }: Actable): readonly (readonly [label: string, href: string])[] {
  if (kind === 'INSTALLATION' && parent === null) {
    return [
      ['Edit', createHref('installation', { from: id })],
      ['Copy', createHref('installation', { from: id, copy: true })],
    ]
  }
  if (kind === 'CLOUDLET') return [['Add a cluster', createHref('cluster', { on: id })]]
  return kind === 'CLUSTER_INST' ? [['Add an app', createHref('app', { on: id })]] : []
}
