import { useState } from 'react'
import { type Act, act } from '../../data/act.ts'
import { type Actable, type Action, actionsFor } from '../../model/actions.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useSession } from '../../ui/session-context.ts'

interface Props {
  readonly object: Actable & { readonly name: string }
  readonly onDone: () => void
}

/** What can be done to the object now, by this viewer. */
export function ActionButtons({ object, onDone }: Props) {
  const { client } = useSession()
  const [asked, setAsked] = useState<Action | null>(null)
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<Act | null>(null)
  const run = async (action: Action): Promise<void> => {
    setAsked(null)
    setBusy(true)
    setResult(await act(client, action))
    setBusy(false)
    onDone()
  }
  const actions = actionsFor(object)
  return (
    <>
      {actions.length > 0 && (
        <div className="actions">
          {actions.map((action) => (
            <button
              key={action.name}
              type="button"
              disabled={busy}
              className={action.danger ? 'danger' : undefined}
              onClick={() => (action.confirm ? setAsked(action) : void run(action))}
            >
              {action.label}
            </button>
          ))}
        </div>
      )}
      {result && (
        <p role="status" className={result.ok ? 'quiet' : 'problem'}>
          {result.message}
        </p>
      )}
      {asked?.confirm && (
        <ConfirmDialog
          title={`${asked.label} ${object.name}?`}
          text={asked.confirm.replace('{name}', object.name)}
          label={asked.label}
          danger={asked.danger}
          onConfirm={() => void run(asked)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  )
}
