import { type FormEvent, useEffect, useRef, useState } from 'react'
import { signIn } from '../data/page-key.ts'
import type { Refusal } from './fetcher.ts'

const WHY: Readonly<Record<Refusal, string>> = {
  missing: 'The token is in the link that the server prints when it starts, or in PHASELINE_TOKEN.',
  ended:
    'Your sign-in has ended, or the server does not accept it. Sign in again on the dashboard, or use a token here.',
}

/** Asks for a token, then reloads the page with it. */
export function TokenDialog({ refusal }: { readonly refusal: Refusal }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    try {
      await signIn(String(new FormData(event.currentTarget).get('token')).trim(), false)
      location.reload()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <dialog ref={dialog} className="token-dialog" aria-labelledby="token-title">
      <h2 id="token-title">Sign in</h2>
      <p>{WHY[refusal]}</p>
      {problem && <p role="alert">{problem}</p>}
      <form onSubmit={(event) => void submit(event)}>
        <input
          name="token"
          type="password"
          aria-label="Token"
          autoComplete="off"
          required
          pattern="\s*[A-Za-z0-9_.~+\/=\-]{1,8192}\s*"
          title="the token alone: letters, digits and . _ ~ + / = -"
        />
        <button type="submit">Use it</button>
      </form>
    </dialog>
  )
}
