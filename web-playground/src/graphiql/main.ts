import { loadPart, reloadLostStyles, reloadWhenLost } from '../data/load-part.ts'
import { takeToken } from '../data/token.ts'
import { hasToken } from '../model/token.ts'

/** GraphiQL is a page of its own: its editor needs a looser policy than the dashboard has. */

addEventListener('hashchange', () => {
  if (hasToken(location.hash)) location.reload()
})
takeToken()
reloadLostStyles()
reloadWhenLost()
const { start } = await loadPart(() => import('./start.tsx'))
await start()
