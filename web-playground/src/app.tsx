import { ClientError } from 'phaseline/client'
import { useEffect, useState } from 'react'
import { openSession, type Session } from './data/session.ts'
import { forgetToken, keepToken, storeToken } from './data/token.ts'
import { SessionContext } from './ui/session-context.ts'
import { Shell } from './ui/shell.tsx'
import { TokenForm } from './ui/token-form.tsx'
import { Waiting } from './ui/waiting.tsx'

type State =
  | { readonly kind: 'asking'; readonly refused: boolean }
  | { readonly kind: 'opening'; readonly problem: string | null }
  | { readonly kind: 'open'; readonly session: Session }

const AGAIN_MS = 2_000

/** Shows the token form, then the pages. */
export function App() {
  const [token, setToken] = useState(keepToken)
  const [state, setState] = useState<State>({ kind: 'opening', problem: null })

  useEffect(() => {
    const listen = (): void => setToken(keepToken())
    addEventListener('hashchange', listen)
    return () => removeEventListener('hashchange', listen)
  }, [])

  useEffect(() => {
    if (!token) return setState((now) => ({ kind: 'asking', refused: now.kind === 'asking' && now.refused }))
    setState({ kind: 'opening', problem: null })
    return open(token, (next) => {
      setState(next)
      if (next.kind !== 'asking') return
      forgetToken()
      setToken(null)
    })
  }, [token])

  if (state.kind === 'opening') return <Waiting problem={state.problem} />
  if (state.kind === 'asking') {
    const use = (given: string): void => {
      storeToken(given)
      setToken(given)
    }
    return <TokenForm refused={state.refused} onToken={use} />
  }
  const forget = (): void => {
    forgetToken()
    setState({ kind: 'asking', refused: false })
    setToken(null)
  }
  return (
    <SessionContext value={state.session}>
      <Shell onForget={forget} />
    </SessionContext>
  )
}

/** Opens a session, and retries until the server answers or refuses. Returns a function that ends it. */
function open(token: string, tell: (state: State) => void): () => void {
  let ended = false
  let session: Session | undefined
  const run = async (): Promise<void> => {
    while (!ended) {
      try {
        const opened = await openSession(token)
        if (ended) return opened.close()
        session = opened
        opened.feed.watch(() => {
          if (!ended && opened.feed.connection().kind === 'refused') tell({ kind: 'asking', refused: true })
        })
        return tell({ kind: 'open', session: opened })
      } catch (error) {
        if (ended) return
        if (error instanceof TypeError || (error instanceof ClientError && error.kind === 'unauthorized')) {
          return tell({ kind: 'asking', refused: true })
        }
        tell({ kind: 'opening', problem: error instanceof Error ? error.message : String(error) })
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
  }
  void run()
  return () => {
    ended = true
    session?.close()
  }
}
