import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { acceptLink } from './data/access.ts'
import { acceptSignIn } from './data/sign-in.ts'
import { isReturn } from './model/sign-in.ts'
import { keepFocus } from './ui/keep-focus.ts'

/** Draws the application, once a sign-in that an issuer sends back has ended. */
export async function start(): Promise<void> {
  const problem = (await signInProblem()) ?? (await acceptLink())
  const root = document.getElementById('root')
  if (!root) throw new Error('the page has no root')
  keepFocus()
  createRoot(root).render(
    <StrictMode>
      <App problem={problem} />
    </StrictMode>,
  )
}

/** Ends a sign-in that an issuer sends back. Null: there is none, or it succeeded. */
async function signInProblem(): Promise<string | null> {
  if (!isReturn(location)) return null
  const { completeSignIn } = await import('./data/oauth.ts')
  try {
    const { signIn, isKept } = await completeSignIn()
    await acceptSignIn(signIn, isKept)
    return null
  } catch (error) {
    return `You are not signed in. ${error instanceof Error ? error.message : String(error)}`
  }
}
