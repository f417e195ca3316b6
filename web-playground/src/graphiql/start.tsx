import 'graphiql/setup-workers/vite'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { acceptLink } from '../data/access.ts'
import { GraphiqlPage } from './graphiql-page.tsx'
import 'graphiql/style.css'
import '../styles/design-tokens.css'
import '../styles/graphiql.css'

export async function start(): Promise<void> {
  await acceptLink()
  const root = document.getElementById('root')
  if (!root) throw new Error('The page has no root.')
  createRoot(root).render(
    <StrictMode>
      <GraphiqlPage />
    </StrictMode>,
  )
}
