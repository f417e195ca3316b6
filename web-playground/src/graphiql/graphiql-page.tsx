import { GraphiQL } from 'graphiql'
import { useEffect, useMemo, useState } from 'react'
import { watchSignIn } from '../data/page-key.ts'
import { applyTheme, readTheme } from '../ui/theme.ts'
import { EXAMPLE } from './example.ts'
import { createFetcher, type Refusal } from './fetcher.ts'
import { showNewest } from './newest-results.ts'
import { OperationTabs } from './operation-tabs.tsx'
import { TokenDialog } from './token-dialog.tsx'

export function GraphiqlPage() {
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const fetcher = useMemo(() => showNewest(createFetcher(setRefusal)), [])
  const theme = useTheme()
  useEffect(() => {
    const stop = new AbortController()
    // The next request finds out whether another tab has signed in.
    watchSignIn(() => setRefusal(null), stop.signal)
    return () => stop.abort()
  }, [])
  return (
    <>
      <GraphiQL
        fetcher={fetcher}
        defaultQuery={EXAMPLE}
        initialQuery={startQuery()}
        // Headers would be stored in local storage, which outlives the tab.
        shouldPersistHeaders={false}
        forcedTheme={theme}
      >
        <GraphiQL.Logo>Phaseline</GraphiQL.Logo>
        <OperationTabs />
      </GraphiQL>
      {refusal && <TokenDialog refusal={refusal} />}
    </>
  )
}

/**
 * The operation of a link, or the stored one. Without either GraphiQL would open an empty tab on every second visit.
 */
const startQuery = (): string =>
  new URLSearchParams(location.search).get('query') || localStorage.getItem('graphiql:query') || EXAMPLE

/** Follows the dashboard's theme, which is chosen in another frame or tab. */
function useTheme() {
  const [theme, setTheme] = useState(readTheme)
  useEffect(() => applyTheme(theme), [theme])
  useEffect(() => {
    const update = (): void => setTheme(readTheme())
    addEventListener('storage', update)
    return () => removeEventListener('storage', update)
  }, [])
  return theme
}
