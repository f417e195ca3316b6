import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { keepToken } from './data/token.ts'
import './styles/base.css'
import './styles/parts.css'
import { applyTheme } from './ui/theme.ts'

// The token leaves the address at once.
keepToken()
applyTheme()
const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
