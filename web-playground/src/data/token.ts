import { tokenIn } from '../model/token.ts'

/** GraphiQL finds it in the same place. It outlives neither the tab nor, in the address, the first moment. */
const KEY = 'phaseline-token'

export function keepToken(): string | null {
  const token = tokenIn(location.hash)
  if (token) {
    sessionStorage.setItem(KEY, token)
    history.replaceState(history.state, '', location.pathname + location.search)
  }
  return sessionStorage.getItem(KEY)
}
export const storeToken = (token: string): void => sessionStorage.setItem(KEY, token)
export const forgetToken = (): void => sessionStorage.removeItem(KEY)
