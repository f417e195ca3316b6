import { loadPart, reloadLostStyles } from './data/load-part.ts'
import { takeToken } from './data/token.ts'
import './styles/design-tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './ui/shell.css'
import { applyTheme } from './ui/theme.ts'

// The token leaves the address at once.
takeToken()
applyTheme()
reloadLostStyles()
// This small first part loads the rest and retries: otherwise a change of network would leave an empty page.
const { start } = await loadPart(() => import('./start.tsx'))
await start()
