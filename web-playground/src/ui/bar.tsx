import { Link } from 'wouter'
import markUrl from '../mark.svg'
import { ConnectionBadge } from './connection-badge.tsx'
import { HelpMenu } from './help-menu.tsx'
import { BookmarkIcon, FindIcon } from './icons.tsx'
import type { Menu } from './menu.ts'
import { ScopeSwitch } from './scope-switch.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import { usePopover } from './use-popover.ts'

interface Props {
  readonly menu: Menu
  readonly onFind: () => void
  readonly onViews: () => void
  readonly onKeys: () => void
  readonly onForget: () => void
}

/** The header of every page. On a narrow screen sections, pages and tools fold into a menu. */
export function Bar({ menu, onFind, onViews, onKeys, onForget }: Props) {
  const folded = usePopover()
  return (
    <>
      <header className="bar">
        <button type="button" className="plain unfold" popoverTarget="menu" aria-label="Menu">
          <span aria-hidden="true">☰</span>
        </button>
        <Link href="/" className="brand" aria-label="Phaseline, overview">
          <img src={markUrl} alt="" width="24" height="24" /> <span>Phaseline</span>
        </Link>
        <ScopeSwitch />
        <div id="menu" popover="auto" className="menu" ref={folded}>
          <Sections menu={menu} />
          <div className="bar-tools">
            <button
              type="button"
              className="plain icon"
              aria-label="Views"
              title="Save this view, or go to a saved one"
              onClick={onViews}
            >
              <BookmarkIcon />
            </button>
            <HelpMenu current={menu.current} onKeys={onKeys} />
            <ThemeSwitch />
            <button
              type="button"
              className="plain"
              onClick={onForget}
              title="End the sign-in of this browser, in all tabs"
            >
              Sign out
            </button>
          </div>
        </div>
        <div className="bar-end">
          <button
            type="button"
            className="plain icon"
            aria-label="Find"
            title="Find objects, pages and documents (Ctrl K)"
            onClick={onFind}
          >
            <FindIcon />
          </button>
          <ConnectionBadge />
          <Link href="/create" className="button primary">
            Create
          </Link>
        </div>
      </header>
      <PagesOfSection menu={menu} />
    </>
  )
}

/** The sections; their pages below them are seen in the folded menu only. */
function Sections({ menu: { sections, current } }: Pick<Props, 'menu'>) {
  return (
    <nav aria-label="Pages">
      <ul className="sections">
        {sections.map(
          ({ name, pages }) =>
            name !== 'Help' && (
              <li key={name}>
                <Link
                  href={pages[0].href}
                  aria-current={current?.section !== name ? undefined : pages.length === 1 ? 'page' : 'true'}
                >
                  {name}
                </Link>
                {pages.length > 1 && (
                  <ul>
                    {pages.map((page) => (
                      <li key={page.label}>
                        <Link href={page.href} aria-current={page === current ? 'page' : undefined}>
                          {page.label}
                        </Link>
                      </li>
                    ))}
                  </ul>
                )}
              </li>
            ),
        )}
      </ul>
    </nav>
  )
}

/** The pages of the section that is shown, where the menu is not folded. */
function PagesOfSection({ menu: { sections, current } }: Pick<Props, 'menu'>) {
  const section = sections.find(({ name }) => name === current?.section)
  if (!section || section.pages.length === 1) return null
  return (
    <nav className="section-pages" aria-label={section.name}>
      {section.pages.map((page) => (
        <Link key={page.label} href={page.href} aria-current={page === current ? 'page' : undefined}>
          {page.label}
        </Link>
      ))}
    </nav>
  )
}
