import type { OfferedLogin } from 'phaseline/sign-in'

/** The logins that the server offers; none while it does not answer. */
export async function readLogins(): Promise<readonly OfferedLogin[]> {
  try {
    const response = await fetch('/.well-known/phaseline')
    if (!response.ok) return []
    return ((await response.json()) as { readonly logins: readonly OfferedLogin[] }).logins
  } catch {
    return []
  }
}
