import { hasToken, tokenIn } from '../model/token.ts'

/** The token of a link that is to be decided on, which a reload must not lose. */
const OFFERED = 'phaseline-offered-token'

/** Takes the token of a link out of the address, and keeps it aside in this tab, to be decided on. */
export function takeToken(): void {
  const { hash, pathname, search } = location
  if (!hasToken(hash)) return
  history.replaceState(history.state, '', pathname + search)
  const token = tokenIn(hash)
  if (token !== null) sessionStorage.setItem(OFFERED, token)
}
export const offeredToken = (): string | null => sessionStorage.getItem(OFFERED)
export const dropOffer = (): void => sessionStorage.removeItem(OFFERED)
