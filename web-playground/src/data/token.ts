import { tokenIn } from '../model/token.ts'

/** Shared with GraphiQL. The token stays in the tab's session storage, and in the address only until the page has loaded. */
const KEY = 'phaseline-token'
/** Of a link that was opened in a tab without it. */
let offered: string | null = null

/** Takes the token of a link out of the address, and keeps it aside, to be decided on. */
export function takeToken(): void {
  const token = tokenIn(location.hash)
  if (!token) return
  history.replaceState(history.state, '', location.pathname + location.search)
  if (storedToken() !== token) offered = token
}
/** The token that was kept aside, once. */
export function offeredToken(): string | null {
  const token = offered
  offered = null
  return token
}
export const storedToken = (): string | null => sessionStorage.getItem(KEY)
export const storeToken = (token: string): void => sessionStorage.setItem(KEY, token)
export const forgetToken = (): void => sessionStorage.removeItem(KEY)
