import { tokenIn } from '../model/token.ts'

/** Shared with GraphiQL. The token stays in the tab's session storage, and in the address only until the page has loaded. */
const KEY = 'phaseline-token'

export function keepToken(): string | null {
  const token = tokenIn(location.hash)
  if (token) {
    sessionStorage.setItem(KEY, token)
    history.replaceState(history.state, '', location.pathname + location.search)
  }
  return storedToken()
}
export const storedToken = (): string | null => sessionStorage.getItem(KEY)
export const storeToken = (token: string): void => sessionStorage.setItem(KEY, token)
export const forgetToken = (): void => sessionStorage.removeItem(KEY)
