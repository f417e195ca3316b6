import type { Login } from '../model/sign-in.ts'

/** The logins that the server offers; none while it does not answer. */
export async function readLogins(): Promise<readonly Login[]> {
  try {
    const response = await fetch('/.well-known/phaseline')
    if (!response.ok) return []
    return ((await response.json()) as { readonly logins: readonly Login[] }).logins
  } catch {
    return []
  }
}
