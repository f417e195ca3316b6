import { useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import { families } from '../families/index.ts'
import { type NavPage, type NavSection, pageAt, sectionsOf } from '../model/navigation.ts'
import { isScoped, scopedHref } from '../model/scope.ts'
import type { SignedIn } from '../model/viewer.ts'
import { useSession } from './session-context.ts'

export interface MenuPage extends NavPage {
  readonly href: string
}

export const familyPages = () => families().flatMap(({ pages }) => pages)

const pagesFor = ({ isAdmin }: SignedIn): readonly NavPage[] => [
  { section: 'Overview', label: 'Overview', path: '/', docs: 'dashboard' },
  { section: 'Trees', label: 'Objects', path: '/objects', docs: 'concepts' },
  { section: 'Trees', label: 'Tree', path: '/tree', docs: 'dashboard', isUnlisted: true },
  { section: 'Trees', label: 'Create', path: '/create', docs: 'quick-start', isUnlisted: true },
  { section: 'Activity', label: 'Log', path: '/log', docs: 'streams' },
  { section: 'Activity', label: 'Output', path: '/log/output', docs: 'dashboard' },
  { section: 'Fleet', label: 'Agents', path: '/agents', docs: 'first-agent' },
  { section: 'Settings', label: 'Projects', path: '/projects', docs: 'concepts' },
  { section: 'Settings', label: 'Hooks', path: '/hooks', docs: 'hooks' },
  ...familyPages(),
  { section: 'Trees', label: 'State machines', path: '/machines', docs: 'machines' },
  ...(isAdmin
    ? ([
        { section: 'Activity', label: 'Audit', path: '/audit', docs: 'security' },
        { section: 'Settings', label: 'Tokens', path: '/tokens', docs: 'security' },
      ] as const)
    : []),
  { section: 'Help', label: 'Explore', path: '/explore', docs: 'dashboard' },
]

export interface Menu {
  readonly sections: readonly NavSection<MenuPage>[]
  /** The page that is shown; absent: there is no such page. */
  readonly current: MenuPage | undefined
}

/**
 * The sections with their pages, and the page that is shown.
 * @param project whose things they show, as far as they can; empty: all
 */
export function useMenu(project: string): Menu {
  const { viewer } = useSession()
  const [path] = useLocation()
  const search = useSearch()
  const pages = useMemo(
    () =>
      pagesFor(viewer).map((page): MenuPage => {
        const { path: at, query = '' } = page
        return { ...page, href: isScoped(at) ? scopedHref(at, query, project) : query ? `${at}?${query}` : at }
      }),
    [viewer, project],
  )
  return { sections: sectionsOf(pages), current: pageAt(pages, path, search) }
}
