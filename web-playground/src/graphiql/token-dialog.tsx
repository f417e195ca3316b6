import { type FormEvent, useEffect, useRef } from 'react'
import { storeToken } from '../data/token.ts'
import type { Refusal } from './fetcher.ts'

const WHY: Readonly<Record<Refusal, string>> = {
  missing:
    'It is in the link that the server prints when it starts, or in PHASELINE_TOKEN. It is kept until you close this tab.',
  invalid: 'The server does not accept the token of this tab.',
  ended: 'Your sign-in has ended. Sign in again on the dashboard, or use a token here.',
}

/** Asks for a token, then reloads the page with it. */
export function TokenDialog({ refusal }: { readonly refusal: Refusal }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    storeToken(String(new FormData(event.currentTarget).get('token')).trim())
    location.reload()
  }
  return (
    <dialog ref={dialog} className="token-dialog" aria-labelledby="token-title">
      <h2 id="token-title">Sign in</h2>
      <p>{WHY[refusal]}</p>
      <form onSubmit={submit}>
        <input
          name="token"
          type="password"
          aria-label="Token"
          autoComplete="off"
          required
          pattern="\s*[A-Za-z0-9_.~+\/=\-]{1,512}\s*"
          title="the token alone: letters, digits and . _ ~ + / = -"
        />
        <button type="submit">Use it</button>
      </form>
    </dialog>
  )
}
