import type { OfferedLogin } from 'phaseline/sign-in'
import { useEffect, useState } from 'react'
import { readLogins } from '../data/logins.ts'
import { hostOf } from '../model/sign-in.ts'

interface Props {
  /** The sign-in outlives the browser. */
  readonly isKept: boolean
  readonly onProblem: (problem: string) => void
}

/** One button for each issuer that the server accepts; nothing where there is none. */
export function LoginButtons({ isKept, onProblem }: Props) {
  const [logins, setLogins] = useState<readonly OfferedLogin[]>([])
  const [leaving, setLeaving] = useState(false)
  useEffect(() => {
    void readLogins().then(setLogins)
  }, [])
  const leave = async (login: OfferedLogin): Promise<void> => {
    setLeaving(true)
    try {
      const { beginSignIn } = await import('../data/oauth.ts')
      await beginSignIn(login, isKept)
    } catch (error) {
      setLeaving(false)
      onProblem(`${hostOf(login)} cannot be reached: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (logins.length === 0) return null
  return (
    <div className="logins">
      {logins.map((login) => (
        <button
          key={`${login.issuer} ${login.clientId}`}
          type="button"
          className="primary"
          disabled={leaving}
          onClick={() => void leave(login)}
        >
          Sign in with {hostOf(login)}
        </button>
      ))}
      <p className="quiet">or</p>
    </div>
  )
}
