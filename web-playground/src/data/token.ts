import { tokenIn } from '../model/token.ts'

/** Shared with GraphiQL. The token stays in the tab's session storage, and in the address only until the page has loaded. */
const KEY = 'phaseline-token'
/** The token of a link that is to be decided on, which a reload must not lose. */
const OFFERED = 'phaseline-offered-token'

/** Takes the token of a link out of the address, and keeps it aside, to be decided on. */
export function takeToken(): void {
  const token = tokenIn(location.hash)
  if (!token) return
  history.replaceState(history.state, '', location.pathname + location.search)
  if (storedToken() !== token) sessionStorage.setItem(OFFERED, token)
}
export const offeredToken = (): string | null => sessionStorage.getItem(OFFERED)
export const dropOffer = (): void => sessionStorage.removeItem(OFFERED)
export const storedToken = (): string | null => sessionStorage.getItem(KEY)
export const storeToken = (token: string): void => sessionStorage.setItem(KEY, token)
export const forgetToken = (): void => sessionStorage.removeItem(KEY)
