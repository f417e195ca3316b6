import { ClientError } from 'phaseline/client'
import { useEffect, useState } from 'react'
import { type Access, acceptLink, storedAccess } from './data/access.ts'
import { signIn, watchSignIn } from './data/page-key.ts'
import { openSession, type Session } from './data/session.ts'
import { dropReplacedSignIn, dropSignIn, endSignIn } from './data/sign-in.ts'
import { hasToken } from './model/token.ts'
import { ScopedRouter } from './ui/scoped-router.tsx'
import { SessionContext } from './ui/session-context.ts'
import { Shell } from './ui/shell.tsx'
import { TokenForm } from './ui/token-form.tsx'
import { Waiting } from './ui/waiting.tsx'

type State =
  | { readonly kind: 'asking'; readonly problem: string | null }
  | { readonly kind: 'opening'; readonly problem: string | null }
  | { readonly kind: 'open'; readonly session: Session }

const AGAIN_MS = 2_000

const ENDED = 'Your sign-in has ended, or the server does not accept it: sign in again.'

/** Shows the form to sign in, then the page of the address. */
export function App({ problem: before }: { readonly problem: string | null }) {
  const [access, setAccess] = useState(storedAccess)
  const [state, setState] = useState<State>({ kind: access ? 'opening' : 'asking', problem: access ? null : before })

  useEffect(() => {
    const stop = new AbortController()
    const follow = (): void => {
      dropReplacedSignIn()
      const next = storedAccess()
      if (!next) setState({ kind: 'asking', problem: null })
      // A sign-in whose session is open was only renewed.
      setAccess((now) => (now?.key === next?.key ? now : next))
    }
    watchSignIn(follow, stop.signal)
    const listen = (): void => {
      if (!hasToken(location.hash)) return
      void acceptLink().then((problem) => {
        if (problem !== null && !storedAccess()) setState({ kind: 'asking', problem })
        setAccess((now) => (now?.key === storedAccess()?.key ? now : storedAccess()))
      })
    }
    addEventListener('hashchange', listen, { signal: stop.signal })
    return () => stop.abort()
  }, [])

  useEffect(() => {
    if (!access) return
    setState({ kind: 'opening', problem: null })
    return open(access, (next) => {
      setState(next)
      if (next.kind !== 'asking') return
      // The key stays: another tab may renew the sign-in, and wake this one.
      if (access.isSignIn) dropSignIn()
      setAccess(null)
    })
  }, [access])

  if (state.kind === 'opening') return <Waiting problem={state.problem} />
  if (state.kind === 'asking') {
    const use = async (token: string, isKept: boolean): Promise<void> => {
      setState({ kind: 'opening', problem: null })
      try {
        await signIn(token, isKept)
        setAccess(storedAccess())
      } catch (error) {
        setState({ kind: 'asking', problem: error instanceof Error ? error.message : String(error) })
      }
    }
    return (
      <TokenForm key={state.problem} problem={state.problem} onToken={(token, isKept) => void use(token, isKept)} />
    )
  }
  const forget = (): void => {
    endSignIn()
    setState({ kind: 'asking', problem: null })
    setAccess(null)
  }
  return (
    <SessionContext value={state.session}>
      <ScopedRouter>
        <Shell onForget={forget} />
      </ScopedRouter>
    </SessionContext>
  )
}

/** Opens a session, and retries until the server answers or refuses. Returns a function that ends it. */
function open(access: Access, tell: (state: State) => void): () => void {
  const refused = { kind: 'asking', problem: ENDED } as const
  let ended = false
  let session: Session | undefined
  const run = async (): Promise<void> => {
    while (!ended) {
      try {
        const opened = await openSession(access)
        if (ended) return opened.close()
        session = opened
        opened.feed.watch(() => {
          if (!ended && opened.feed.connection().kind === 'refused') tell(refused)
        })
        return tell({ kind: 'open', session: opened })
      } catch (error) {
        if (ended) return
        if (error instanceof ClientError && error.kind === 'unauthorized') return tell(refused)
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
