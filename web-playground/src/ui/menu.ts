import { families } from '../families/index.ts'
import type { SignedIn } from '../model/viewer.ts'

export interface MenuEntry {
  readonly path: string
  readonly label: string
}

export const familyPages = () => families().flatMap(({ pages }) => pages)

/** The pages that the menu leads to. */
export const menuFor = ({ isAdmin }: SignedIn): readonly MenuEntry[] => [
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
