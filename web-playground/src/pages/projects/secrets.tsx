import { type FormEvent, useState } from 'react'
import { SECRET_NAME } from '../../model/project.ts'
import { Since } from '../../ui/phase.tsx'
import { Outcome } from '../../ui/states.tsx'
import { DeleteButton, ThingsCard } from '../../ui/things-card.tsx'
import { useAct } from '../../ui/use-act.ts'
import type { Removal } from '../../ui/use-removal.tsx'

interface Props {
  readonly project: string
  readonly secrets: readonly { readonly name: string; readonly updatedAt: string }[]
  readonly mayWrite: boolean
  readonly onDone: () => Promise<unknown> | undefined
}

/** The names of secrets, and a form to write them. The server never returns values. */
export function Secrets({ project, secrets, mayWrite, onDone }: Props) {
  const acting = useAct(onDone)
  const removalOf = ({ name }: Props['secrets'][number]): Removal => ({
    name,
    text: `Delete the secret ${name}: events from now on do without it. It cannot be brought back.`,
    variables: { project, name },
  })
  return (
    <ThingsCard
      id="secrets"
      title="Secrets"
      about="Workers and jobs get them as environment variables. They can be replaced, never read again; an event keeps those of its own time."
      things={secrets}
      row={({ name, updatedAt }, onDelete) => (
        <li key={name}>
          <code className="thing-name">{name}</code>
          <span className="thing-end quiet">
            written <Since at={updatedAt} /> ago <DeleteButton name={name} onDelete={onDelete} />
          </span>
        </li>
      )}
      mayWrite={mayWrite}
      deletion={{ field: 'deleteSecret', of: removalOf }}
      acting={acting}
      form={<WriteSecret project={project} known={secrets.map(({ name }) => name)} onDone={onDone} />}
    />
  )
}

interface WriteProps {
  readonly project: string
  readonly known: readonly string[]
  readonly onDone: () => Promise<unknown> | undefined
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
