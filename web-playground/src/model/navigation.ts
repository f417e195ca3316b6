/** The sections of the dashboard, in the order of the menu. Each page is in one. */
export const SECTIONS = ['Overview', 'Trees', 'Activity', 'Fleet', 'Settings', 'Help'] as const
type Section = (typeof SECTIONS)[number]

export interface NavPage {
  readonly section: Section
  readonly label: string
  readonly path: `/${string}`
  /** The part of the address that makes another page of the same path, without `?`. */
  readonly query?: string
  /** The page of the documentation that explains it. */
  readonly docs: string
  /** Something else leads there: no menu does. */
  readonly isUnlisted?: true
}

/** The page at an address: of those with the longest path, the one whose whole query the address has. */
export function pageAt<P extends NavPage>(pages: readonly P[], path: string, search: string): P | undefined {
  const asked = new URLSearchParams(search)
  const isThere = (page: P): boolean =>
    (path === page.path || path.startsWith(`${page.path}/`)) &&
    [...new URLSearchParams(page.query)].every(([name, value]) => asked.get(name) === value)
  const weight = ({ path: own, query = '' }: P): number => own.length + query.length
  return pages.filter(isThere).toSorted((a, b) => weight(b) - weight(a))[0]
}

export interface NavSection<P extends NavPage> {
  readonly name: Section
  /** The pages that menus lead to. The first one opens with the section. */
  readonly pages: readonly [P, ...P[]]
}

/** The pages by section; a section without pages is omitted. */
export const sectionsOf = <P extends NavPage>(pages: readonly P[]): readonly NavSection<P>[] =>
  SECTIONS.flatMap((name) => {
    const [first, ...more] = pages.filter((page) => page.section === name && !page.isUnlisted)
    return first ? [{ name, pages: [first, ...more] as const }] : []
  })
