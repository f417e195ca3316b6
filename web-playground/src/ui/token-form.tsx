import { type FormEvent, useState } from 'react'
import markUrl from '../mark.svg'
import { isToken } from '../model/token.ts'
import { LoginButtons } from './login-buttons.tsx'

interface Props {
  /** Why the form is shown; null: nobody has signed in yet. */
  readonly problem: string | null
  /** @param isKept the sign-in outlives the browser */
  readonly onToken: (token: string, isKept: boolean) => void
}

/** Asks for a login that the server offers, or for the token that its link has. */
export function TokenForm({ problem: before, onToken }: Props) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState(before)
  const [wrong, setWrong] = useState(false)
  const [isKept, setIsKept] = useState(false)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const token = text.trim()
    setWrong(!isToken(token))
    if (isToken(token)) onToken(token, isKept)
  }
  return (
    <main className="center">
      <form className="card token" onSubmit={submit}>
        <h1>
          <img src={markUrl} alt="" width="32" height="32" /> Phaseline
        </h1>
        <LoginButtons isKept={isKept} onProblem={setProblem} />
        <label htmlFor="token">Your token</label>
        <div className="row">
          <input
            id="token"
            type="password"
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
            aria-describedby="token-help"
            aria-invalid={problem !== null || wrong}
            // biome-ignore lint/a11y/noAutofocus: there is nothing else on the page
            autoFocus
          />
          <button type="submit" className="primary">
            Open
          </button>
        </div>
        <label className="check">
          <input type="checkbox" checked={isKept} onChange={({ target }) => setIsKept(target.checked)} /> Keep me signed
          in
        </label>
        {problem && !wrong && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {wrong && (
          <p className="problem" role="alert">
            That is no token: it has letters, digits and . _ ~ + / = - only.
          </p>
        )}
        <p id="token-help" className="quiet">
          It is in the link that the server prints when it starts, or in PHASELINE_TOKEN. You are signed in in all tabs
          until you close the browser, or with the box for up to 30 days. <a href="/docs/">Documentation</a>
        </p>
      </form>
    </main>
  )
}
