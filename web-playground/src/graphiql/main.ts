import { keepAccess } from '../data/access.ts'
import { loadPart, reloadLostStyles, reloadWhenLost } from '../data/load-part.ts'

/** GraphiQL is a page of its own: its editor needs a looser policy than the dashboard has. */

addEventListener('hashchange', () => {
  if (/[#&]token=/.test(location.hash)) location.reload()
})
keepAccess()
reloadLostStyles()
reloadWhenLost()
const { start } = await loadPart(() => import('./start.tsx'))
start()
