import { ClientError } from 'phaseline/client'
import { useEffect, useState } from 'react'
import { type Access, acceptLink, storedAccess } from './data/access.ts'
import { openSession, type Session } from './data/session.ts'
import { endSignIn } from './data/sign-in.ts'
import { storedToken, storeToken } from './data/token.ts'
import { tokenIn } from './model/token.ts'
import { SessionContext } from './ui/session-context.ts'
import { Shell } from './ui/shell.tsx'
import { TokenForm } from './ui/token-form.tsx'
import { Waiting } from './ui/waiting.tsx'

type State =
  | { readonly kind: 'asking'; readonly problem: string | null }
  | { readonly kind: 'opening'; readonly problem: string | null }
  | { readonly kind: 'open'; readonly session: Session }

const AGAIN_MS = 2_000

const REFUSED = 'The server does not accept this token. It may have been revoked, or belong to another server.'
const ENDED = 'Your sign-in has ended, or the server does not accept it: sign in again.'

/** Shows the form to sign in, then the pages. */
export function App({ problem: before }: { readonly problem: string | null }) {
  const [access, setAccess] = useState(storedAccess)
  const [state, setState] = useState<State>({ kind: 'opening', problem: null })

  useEffect(() => {
    const listen = (): void => {
      if (!tokenIn(location.hash)) return
      const before = storedToken()
      void acceptLink().then(() => {
        if (storedToken() !== before) setAccess(storedAccess())
      })
    }
    addEventListener('hashchange', listen)
    return () => removeEventListener('hashchange', listen)
  }, [])

  useEffect(() => {
    if (!access) return setState((now) => (now.kind === 'asking' ? now : { kind: 'asking', problem: before }))
    setState({ kind: 'opening', problem: null })
    return open(access, (next) => {
      setState(next)
      if (next.kind !== 'asking') return
      endSignIn()
      setAccess(null)
    })
  }, [access, before])

  if (state.kind === 'opening') return <Waiting problem={state.problem} />
  if (state.kind === 'asking') {
    const use = (given: string): void => {
      storeToken(given)
      setAccess({ token: given, isSignIn: false })
    }
    return <TokenForm problem={state.problem} onToken={use} />
  }
  const forget = (): void => {
    endSignIn()
    setState({ kind: 'asking', problem: null })
    setAccess(null)
  }
  return (
    <SessionContext value={state.session}>
      <Shell onForget={forget} />
    </SessionContext>
  )
}

/** Opens a session, and retries until the server answers or refuses. Returns a function that ends it. */
function open({ token, isSignIn }: Access, tell: (state: State) => void): () => void {
  const refused = { kind: 'asking', problem: isSignIn ? ENDED : REFUSED } as const
  let ended = false
  let session: Session | undefined
  const run = async (): Promise<void> => {
    while (!ended) {
      try {
        const opened = await openSession(token)
        if (ended) return opened.close()
        session = opened
        opened.feed.watch(() => {
          if (!ended && opened.feed.connection().kind === 'refused') tell(refused)
        })
        return tell({ kind: 'open', session: opened })
      } catch (error) {
        if (ended) return
        if (error instanceof TypeError || (error instanceof ClientError && error.kind === 'unauthorized')) {
          return tell(refused)
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
