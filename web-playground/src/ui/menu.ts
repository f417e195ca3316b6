import { families } from '../families/index.ts'
import { isScoped, scopedHref } from '../model/scope.ts'
import type { SignedIn } from '../model/viewer.ts'

export interface MenuEntry {
  readonly path: string
  readonly label: string
}

export const familyPages = () => families().flatMap(({ pages }) => pages)

/**
 * The pages that the menu leads to.
 * @param project whose things they show, as far as they can; empty: all
 */
export const menuFor = (viewer: SignedIn, project: string): readonly (MenuEntry & { readonly href: string })[] =>
  entriesFor(viewer).map((entry) => ({
    ...entry,
    href: isScoped(entry.path) ? scopedHref(entry.path, '', project) : entry.path,
  }))

const entriesFor = ({ isAdmin }: SignedIn): readonly MenuEntry[] => [
  { path: '/', label: 'Overview' },
  { path: '/objects', label: 'Objects' },
  { path: '/log', label: 'Log' },
  ...familyPages().filter(({ ofAgents }) => !ofAgents),
  { path: '/agents', label: 'Agents' },
  { path: '/projects', label: 'Projects' },
  { path: '/machines', label: 'State machines' },
  ...(isAdmin
    ? [
        { path: '/tokens', label: 'Tokens' },
        { path: '/audit', label: 'Audit' },
      ]
    : []),
  { path: '/explore', label: 'Explore' },
]
