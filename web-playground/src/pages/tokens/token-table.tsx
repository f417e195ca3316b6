import { useState } from 'react'
import { holderOf, stateOf, type Token } from '../../model/tokens.ts'
import { dayOnly, zonedTime } from '../../ui/exact-time.ts'
import { Since } from '../../ui/phase.tsx'
import { ScrollingTable } from '../../ui/scrolling-table.tsx'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'
import { type Removal, useRemoval } from '../../ui/use-removal.tsx'

const COLUMNS = ['Name', 'For', 'Types', 'Projects', 'Created', 'Last used', 'Expires']

interface Props {
  readonly tokens: readonly Token[]
  readonly now: number
  readonly onDone: () => void
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
      <ScrollingTable label="Tokens" columns={COLUMNS}>
        {shown.map((token) => (
          <Row key={token.id} token={token} now={now} busy={busy} onRevoke={() => remove(removalOf(token))} />
        ))}
      </ScrollingTable>
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
function Row({ token, now, busy, onRevoke }: RowProps) {
  const state = stateOf(token, now)
  return (
    <tr className={state === 'valid' ? undefined : 'quiet'}>
      <th scope="row">{token.name}</th>
      <td>{holderOf(token)}</td>
      <td>{token.role === 'AGENT' ? (token.types?.join(', ') ?? 'all') : '–'}</td>
      <td>{token.projects?.join(', ') ?? 'all'}</td>
      <td>
        <Day at={token.createdAt} />
      </td>
      <td>{token.lastUsedAt ? <>{<Since at={token.lastUsedAt} />} ago</> : 'never'}</td>
      <td>{state === 'valid' ? token.expiresAt ? <Day at={token.expiresAt} /> : 'never' : state}</td>
      <td className="row-action">
        {token.principal.builtIn && <span className="quiet">of the server</span>}
        {state === 'valid' && !token.principal.builtIn && (
          <button type="button" aria-label={`Revoke ${token.name}`} disabled={busy} onClick={onRevoke}>
            Revoke
          </button>
        )}
      </td>
    </tr>
  )
}

function Day({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={zonedTime(at)}>
      {dayOnly(at)}
    </time>
  )
}
