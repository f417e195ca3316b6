import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { type AroundNavHandler, Router } from 'wouter'
import { useBrowserLocation, useSearch as useBrowserSearch } from 'wouter/use-browser-location'
import { projectIn, scopedHref, shownSearch, withProject } from '../model/scope.ts'
import { useSession } from './session-context.ts'

interface Scope {
  /** Empty: all projects. */
  readonly project: string
  readonly choose: (project: string) => void
}
const ScopeContext = createContext<Scope>({ project: '', choose: () => undefined })

/** The project that pages show. */
export const useScope = (): Scope => useContext(ScopeContext)

const hookFor = (last: string) => () => shownSearch(useBrowserSearch(), last)

/** Keeps the chosen project in the address of each page, whoever goes there, and in the address of each link. */
export function ScopedRouter({ children }: { readonly children: ReactNode }) {
  const { viewer } = useSession()
  const key = `phaseline.project.${viewer.id}`
  const stored = localStorage.getItem(key) ?? ''
  // As it was when this tab was opened, so that the way back shows what was shown.
  const [last] = useState(stored)
  const [path, navigate] = useBrowserLocation()
  const search = useBrowserSearch()
  const project = projectIn(search, last)
  const isAllNamed = last !== '' || stored !== ''
  const keep = useCallback((href: string) => withProject(href, project, isAllNamed), [project, isAllNamed])
  const aroundNav = useCallback<AroundNavHandler>((go, to, options) => go(keep(to), options), [keep])
  const searchHook = useMemo(() => hookFor(last), [last])
  useEffect(() => {
    const here = path + search
    const full = keep(here)
    if (full !== here) navigate(full + location.hash, { replace: true, state: history.state })
  }, [path, search, keep, navigate])
  const choose = useCallback(
    (next: string): void => {
      localStorage.setItem(key, next)
      navigate(withProject(scopedHref(path, search, next), next, last !== '' || next !== ''))
    },
    [key, last, navigate, path, search],
  )
  const scope = useMemo(() => ({ project, choose }), [project, choose])
  return (
    <ScopeContext value={scope}>
      <Router aroundNav={aroundNav} hrefs={keep} searchHook={searchHook}>
        {children}
      </Router>
    </ScopeContext>
  )
}
