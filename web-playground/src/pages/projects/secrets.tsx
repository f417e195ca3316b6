import { type FormEvent, useState } from 'react'
import { SECRET_NAME } from '../../model/project.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Since } from '../../ui/phase.tsx'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'

interface Props {
  readonly project: string
  readonly secrets: readonly { readonly name: string; readonly updatedAt: string }[]
  readonly mayWrite: boolean
  readonly onDone: () => void
}

/** The names of secrets, and a form to write them. The server never returns values. */
export function Secrets({ project, secrets, mayWrite, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [doomed, setDoomed] = useState<string | null>(null)
  const remove = (name: string): void => {
    setDoomed(null)
    void ask({
      field: 'deleteSecret',
      input: 'DeleteSecretInput',
      done: `${name} is deleted.`,
      variables: { project, name },
    })
  }
  return (
    <section className="card" aria-labelledby="secrets">
      <h3 id="secrets">Secrets</h3>
      <p className="quiet">
        Workers and jobs get them as environment variables. They can be replaced, never read again; an event keeps those
        of its own time.
      </p>
      {secrets.length === 0 && <p className="quiet">There are none.</p>}
      <ul className="things">
        {secrets.map(({ name, updatedAt }) => (
          <li key={name}>
            <code>{name}</code>
            <span className="thing-end quiet">
              written <Since at={updatedAt} /> ago{' '}
              {mayWrite && (
                <button type="button" aria-label={`Delete ${name}`} disabled={busy} onClick={() => setDoomed(name)}>
                  Delete
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {mayWrite && <WriteSecret project={project} known={secrets.map(({ name }) => name)} onDone={onDone} />}
      {result?.ok === false && <Outcome result={result} />}
      {doomed !== null && (
        <ConfirmDialog
          title={`Delete ${doomed}?`}
          text={`Delete the secret ${doomed}: events from now on do without it. It cannot be brought back.`}
          label="Delete"
          danger
          onConfirm={() => remove(doomed)}
          onClose={() => setDoomed(null)}
        />
      )}
    </section>
  )
}

interface WriteProps {
  readonly project: string
  readonly known: readonly string[]
  readonly onDone: () => void
}
function WriteSecret({ project, known, onDone }: WriteProps) {
  const { busy, result, ask } = useAct(onDone)
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const replaces = known.includes(name)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const variables = { project, name, value }
    // The value leaves the page at once, whatever the outcome.
    setValue('')
    const { ok } = await ask({
      field: 'setSecret',
      input: 'SetSecretInput',
      done: `${name} is ${replaces ? 'replaced' : 'written'}.`,
      variables,
    })
    if (ok) setName('')
  }
  return (
    <form className="inline-form" onSubmit={(event) => void submit(event)}>
      <label>
        <span>Name</span>
        <input
          value={name}
          required
          pattern={SECRET_NAME}
          title="Letters, digits and _; not a digit first"
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <label className="grow">
        <span>Value</span>
        <input
          type="password"
          value={value}
          required
          autoComplete="new-password"
          onChange={({ target }) => setValue(target.value)}
        />
      </label>
      <button type="submit" disabled={busy}>
        {replaces ? 'Replace' : 'Write'}
      </button>
      <Outcome result={result} />
    </form>
  )
}
