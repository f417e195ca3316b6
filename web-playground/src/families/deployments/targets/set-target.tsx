import { type FormEvent, useState } from 'react'
import { Outcome } from '../../../ui/states.tsx'
import { useAct } from '../../../ui/use-act.ts'
import { labelsIn } from '../model/target-labels.ts'

interface Props {
  readonly project: string
  readonly known: readonly { readonly name: string }[]
  readonly onDone: () => Promise<unknown> | undefined
}

const EMPTY = { name: '', type: 'kubernetes', labels: '' }

/** Creates a target, or changes what is given of one. Credentials come from a file, and leave the page at once. */
export function SetTarget({ project, known, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [fields, setFields] = useState(EMPTY)
  const [file, setFile] = useState<File | null>(null)
  // A file field is emptied by a new one.
  const [round, setRound] = useState(0)
  const { name, type, labels: text } = fields
  const change = (changed: Partial<typeof EMPTY>): void => setFields({ ...fields, ...changed })
  const replaces = known.some((target) => target.name === name)
  const labels = labelsIn(text)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!labels) return
    const credentials = file ? await file.text() : undefined
    setFile(null)
    setRound(round + 1)
    const variables = {
      ...{ project, name, type },
      ...(text.trim() !== '' && { labels }),
      ...(credentials !== undefined && { credentials }),
    }
    const done = `${name} is ${replaces ? 'changed' : 'created'}.`
    const { ok } = await ask({ field: 'setTarget', input: 'SetTargetInput', done, variables })
    if (ok) setFields(EMPTY)
  }
  return (
    <form className="inline-form" onSubmit={(event) => void submit(event)}>
      <label>
        <span>Name</span>
        <input
          value={name}
          required
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
          title="Letters, digits, . _ and -; a letter or digit first"
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => change({ name: target.value })}
        />
      </label>
      <label>
        <span>Type</span>
        <input value={type} required spellCheck={false} onChange={({ target }) => change({ type: target.value })} />
      </label>
      <label className="grow">
        <span>Labels</span>
        <input
          value={text}
          placeholder="region=eu, tier=prod"
          spellCheck={false}
          aria-invalid={labels === null}
          aria-describedby="target-labels-problem"
          onChange={({ target }) => change({ labels: target.value })}
        />
      </label>
      <label className="grow">
        <span>Credentials, e.g. a kubeconfig</span>
        <input key={round} type="file" onChange={({ target }) => setFile(target.files?.[0] ?? null)} />
      </label>
      <button type="submit" disabled={busy || labels === null}>
        {replaces ? 'Change target' : 'Set target'}
      </button>
      <p id="target-labels-problem" className="problem" role="alert">
        {labels === null && 'Write labels as key=value, with commas between them.'}
      </p>
      <p className="quiet">
        A kubeconfig with several contexts, or with files: <code>phaseline target import NAME --kubeconfig FILE</code>
      </p>
      <Outcome result={result} />
    </form>
  )
}
