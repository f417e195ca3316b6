import { type FormEvent, useState } from 'react'
import { ask } from '../../data/create.ts'
import { CREATE_TOKEN } from '../../data/documents-tokens.ts'
import { HOLDERS, hasProjects, LIVES, type TokenForm, tokenInput } from '../../model/tokens.ts'
import { useSession } from '../../ui/session-context.ts'
import { Outcome } from '../../ui/states.tsx'
import { useCreate } from '../create/use-create.ts'

/** A token that was just created. Its secret is in this page only, until it is closed. */
export interface Made {
  readonly secret: string
  readonly form: TokenForm
}

const START: TokenForm = { name: '', holder: HOLDERS[0], types: '', projects: '', days: 90 }

export function NewToken({ onCreated }: { readonly onCreated: (made: Made) => void }) {
  const { client } = useSession()
  const [form, setForm] = useState(START)
  const { busy, refused, create } = useCreate()
  const change = (part: Partial<TokenForm>): void => setForm({ ...form, ...part })
  const isAgent = form.holder.role === 'AGENT'
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    await create(
      tokenInput(form),
      (input) => ask(client, CREATE_TOKEN, input),
      ({ secret }) => onCreated({ secret, form }),
    )
  }
  return (
    <form className="card new-token" aria-labelledby="new-token" onSubmit={(event) => void submit(event)}>
      <h2 id="new-token">New token</h2>
      <div className="fields">
        <label>
          <span>Name</span>
          <input
            value={form.name}
            required
            maxLength={100}
            placeholder="my-deployer"
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => change({ name: target.value })}
          />
        </label>
        <label>
          <span>For</span>
          <select
            value={form.holder.id}
            onChange={({ target }) => change({ holder: HOLDERS.find(({ id }) => id === target.value) ?? HOLDERS[0] })}
          >
            {HOLDERS.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {isAgent && (
          <label>
            <span>Types of work</span>
            <input
              value={form.types}
              placeholder="all, or my-type, other-type"
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => change({ types: target.value })}
            />
          </label>
        )}
        {hasProjects(form.holder) && (
          <label>
            <span>Projects</span>
            <input
              value={form.projects}
              placeholder="all, or web, shop"
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => change({ projects: target.value })}
            />
          </label>
        )}
        <label>
          <span>Expires in</span>
          <select
            value={String(form.days)}
            onChange={({ target }) => change({ days: target.value === 'null' ? null : Number(target.value) })}
          >
            {LIVES.map(([label, days]) => (
              <option key={label} value={String(days)}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div className="row">
        <button type="submit" className="primary" disabled={busy}>
          Create token
        </button>
        {refused && <Outcome result={{ ok: false, message: refused.message }} />}
      </div>
    </form>
  )
}
