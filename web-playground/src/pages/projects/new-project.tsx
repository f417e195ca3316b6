import { type FormEvent, useState } from 'react'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'

export function NewProject({ onCreated }: { readonly onCreated: (name: string) => void }) {
  const { busy, result, ask } = useAct(() => undefined)
  const [text, setText] = useState('')
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const name = text.trim()
    const { ok } = await ask({
      field: 'createProject',
      input: 'CreateProjectInput',
      done: `${name} is there.`,
      variables: { name },
    })
    if (!ok) return
    setText('')
    onCreated(name)
  }
  return (
    <form className="card project-new" onSubmit={(event) => void submit(event)}>
      <label htmlFor="project-name">New project</label>
      <div className="row">
        <input
          id="project-name"
          value={text}
          autoComplete="off"
          required
          maxLength={253}
          placeholder="name"
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" disabled={busy}>
          Create
        </button>
      </div>
      {result?.ok === false && <Outcome result={result} />}
    </form>
  )
}
