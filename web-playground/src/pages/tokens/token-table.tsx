import { useState } from 'react'
import { holderOf, stateOf, type Token } from '../../model/tokens.ts'
import { dayOnly, zonedTime } from '../../ui/exact-time.ts'
import { Since } from '../../ui/phase.tsx'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'
import { type Removal, useRemoval } from '../../ui/use-removal.tsx'
import { type TableRow, WrappingTable } from '../../ui/wrapping-table.tsx'

const COLUMNS = ['Name', 'For', 'Types', 'Projects', 'Created', 'Last used', 'Expires']

interface Props {
  readonly tokens: readonly Token[]
  readonly now: number
  readonly onDone: () => Promise<unknown> | undefined
}
export function TokenTable({ tokens, now, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const { remove, dialog } = useRemoval('revokeToken', ask, { label: 'Revoke', done: 'is revoked' })
  const [showsAll, setShowsAll] = useState(false)
  const valid = tokens.filter((token) => stateOf(token, now) === 'valid')
  const shown = showsAll ? tokens : valid
  return (
    <section className="card" aria-labelledby="all-tokens">
      <header>
        <h2 id="all-tokens">All tokens</h2>
        {tokens.length > valid.length && (
          <label className="quiet">
            <input type="checkbox" checked={showsAll} onChange={({ target }) => setShowsAll(target.checked)} /> Show
            revoked and expired
          </label>
        )}
      </header>
      <WrappingTable
        label="Tokens"
        columns={COLUMNS}
        rows={shown.map((token) => rowOf({ token, now, busy, onRevoke: () => remove(removalOf(token)) }))}
      />
      {result && <Outcome result={result} />}
      {dialog}
    </section>
  )
}

const removalOf = ({ id, name }: Token): Removal => ({
  name,
  text: 'Its users are refused within 2 seconds. This cannot be undone.',
  variables: { id },
})

interface RowProps {
  readonly token: Token
  readonly now: number
  readonly busy: boolean
  readonly onRevoke: () => void
}
function rowOf({ token, now, busy, onRevoke }: RowProps): TableRow {
  const { id, name, role, types, projects, createdAt, lastUsedAt, expiresAt, principal } = token
  const state = stateOf(token, now)
  return {
    key: id,
    name,
    cells: [
      holderOf(token),
      role === 'AGENT' ? (types?.join(', ') ?? 'all') : '–',
      projects?.join(', ') ?? 'all',
      <Day key="created" at={createdAt} />,
      lastUsedAt ? <>{<Since at={lastUsedAt} />} ago</> : 'never',
      state === 'valid' ? expiresAt ? <Day key="expires" at={expiresAt} /> : 'never' : state,
    ],
    action: (
      <>
        {principal.builtIn && <span className="quiet">of the server</span>}
        {state === 'valid' && !principal.builtIn && (
          <button type="button" aria-label={`Revoke ${name}`} disabled={busy} onClick={onRevoke}>
            Revoke
          </button>
        )}
      </>
    ),
    isOver: state !== 'valid',
  }
}

function Day({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={zonedTime(at)}>
      {dayOnly(at)}
    </time>
  )
}
