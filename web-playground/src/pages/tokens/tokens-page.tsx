import { useState } from 'react'
import { AskedStore } from '../../data/asked-store.ts'
import { TOKENS_NOW } from '../../data/tokens.ts'
import { stateOf } from '../../model/tokens.ts'
import { plural } from '../../model/words.ts'
import { useNow } from '../../ui/now.ts'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { NewSecret } from './new-secret.tsx'
import { type Made, NewToken } from './new-token.tsx'
import { TokenTable } from './token-table.tsx'

/** Tokens of agents, programs and people: create, connect, revoke. */
export default function TokensPage() {
  useTitle('Tokens')
  const { viewer } = useSession()
  if (!viewer.isAdmin) {
    return (
      <div className="page">
        <h1>Tokens</h1>
        <Empty title="Only administrators see tokens.">Sign in with a token of the role ADMIN.</Empty>
      </div>
    )
  }
  return <Tokens />
}

function Tokens() {
  const store = useLive('tokens', (session, signal) => new AskedStore(session, TOKENS_NOW, signal))
  const [made, setMade] = useState<Made | null>(null)
  const now = useNow()
  const tokens = store?.answer ?? null
  const valid = tokens?.filter((token) => stateOf(token, now) === 'valid') ?? []
  const created = (one: Made): void => {
    setMade(one)
    void store?.refresh()
  }
  return (
    <div className="page">
      <div className="page-head">
        <h1>Tokens</h1>
        <span className="quiet" role="status">
          {tokens && plural(valid.length, 'valid token')}
        </span>
      </div>
      {made ? <NewSecret made={made} onClose={() => setMade(null)} /> : <NewToken onCreated={created} />}
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!tokens && !store?.error && <Loading what="tokens" />}
      {tokens && <TokenTable tokens={tokens} now={now} onDone={() => store?.refresh()} />}
    </div>
  )
}
