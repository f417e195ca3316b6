import { type FormEvent, useState } from 'react'
import { Outcome } from '../../../ui/states.tsx'
import { NameField } from '../../../ui/things-card.tsx'
import { useAct } from '../../../ui/use-act.ts'

interface Props {
  readonly project: string
  readonly onDone: () => Promise<unknown> | undefined
}

const EMPTY = { name: '', format: 'GITHUB', secret: '', filter: '' }
const FORMATS = ['GITHUB', 'GITLAB', 'CLOUDEVENTS', 'STANDARD_WEBHOOKS', 'GENERIC']

/** Creates a hook whose event the format says. The secret leaves the page at once. */
export function CreateHook({ project, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [fields, setFields] = useState(EMPTY)
  const { name, format, secret, filter } = fields
  const change = (changed: Partial<typeof EMPTY>): void => setFields({ ...fields, ...changed })
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const variables = {
      ...{ project, name, format, secrets: [{ name: 'first', value: secret }] },
      ...(filter.trim() !== '' && { filter }),
    }
    change({ secret: '' })
    const { ok } = await ask({ field: 'createHook', input: 'CreateHookInput', done: `${name} is created.`, variables })
    if (ok) setFields(EMPTY)
  }
  return (
    <form className="inline-form" onSubmit={(event) => void submit(event)}>
      <NameField value={name} onChange={(named) => change({ name: named })} />
      <label>
        <span>Format</span>
        <select value={format} onChange={({ target }) => change({ format: target.value })}>
          {FORMATS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label className="grow">
        <span>Secret, which the sender has, too</span>
        <input
          type="password"
          value={secret}
          required
          minLength={16}
          autoComplete="off"
          onChange={({ target }) => change({ secret: target.value })}
        />
      </label>
      <label className="grow">
        <span>Filter, e.g. body.ref == "refs/heads/main"</span>
        <input value={filter} spellCheck={false} onChange={({ target }) => change({ filter: target.value })} />
      </label>
      <button type="submit" disabled={busy}>
        Add hook
      </button>
      <p className="quiet">
        The event and further secrets: <code>phaseline hook apply -f FILE</code>
      </p>
      <Outcome result={result} />
    </form>
  )
}
