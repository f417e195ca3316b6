import 'graphiql/setup-workers/vite'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { keepAccess } from '../data/access.ts'
import { GraphiqlPage } from './graphiql-page.tsx'
import 'graphiql/style.css'
import '../styles/graphiql.css'

/** GraphiQL is a page of its own: its editor needs a looser policy than the dashboard has. */

const root = document.getElementById('root')
if (!root) throw new Error('The page has no root.')
addEventListener('hashchange', () => {
  if (/[#&]token=/.test(location.hash)) location.reload()
})
keepAccess()
createRoot(root).render(
  <StrictMode>
    <GraphiqlPage />
  </StrictMode>,
)
