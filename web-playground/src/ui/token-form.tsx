import { type FormEvent, useState } from 'react'
import markUrl from '../mark.svg'
import { isToken } from '../model/token.ts'

interface Props {
  readonly refused: boolean
  readonly onToken: (token: string) => void
}

/** Asks for the token that the server's link has. */
export function TokenForm({ refused, onToken }: Props) {
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState(false)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const token = text.trim()
    setWrong(!isToken(token))
    if (isToken(token)) onToken(token)
  }
  return (
    <main className="center">
      <form className="card token" onSubmit={submit}>
        <h1>
          <img src={markUrl} alt="" width="32" height="32" /> Phaseline
        </h1>
        <label htmlFor="token">Your token</label>
        <div className="row">
          <input
            id="token"
            type="password"
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
            aria-describedby="token-help"
            aria-invalid={refused || wrong}
            // biome-ignore lint/a11y/noAutofocus: there is nothing else on the page
            autoFocus
          />
          <button type="submit" className="primary">
            Open
          </button>
        </div>
        {refused && !wrong && (
          <p className="problem" role="alert">
            The server does not accept this token. It may have been revoked, or belong to another server.
          </p>
        )}
        {wrong && (
          <p className="problem" role="alert">
            That is no token: it has letters, digits and . _ ~ + / = - only.
          </p>
        )}
        <p id="token-help" className="quiet">
          It is in the link that the server prints when it starts, or in PHASELINE_TOKEN. It is kept until you close
          this tab.
        </p>
      </form>
    </main>
  )
}
