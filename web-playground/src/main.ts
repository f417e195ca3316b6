import { loadPart, reloadLostStyles } from './data/load-part.ts'
import { takeToken } from './data/token.ts'
import './styles/base.css'
import './styles/parts.css'
import { applyTheme } from './ui/theme.ts'

// The token leaves the address at once.
takeToken()
applyTheme()
reloadLostStyles()
// The little that comes first asks for the rest, again if need be: who changes the network meanwhile would see an empty page.
const { start } = await loadPart(() => import('./start.tsx'))
await start()
