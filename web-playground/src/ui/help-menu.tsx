import { Link } from 'wouter'
import type { MenuPage } from './menu.ts'
import { usePopover } from './use-popover.ts'

interface Props {
  readonly current: MenuPage | undefined
  /** Shows the keyboard shortcuts. */
  readonly onKeys: () => void
}

/** Documentation, keyboard shortcuts, the API, and the version. */
export function HelpMenu({ current, onKeys }: Props) {
  const help = usePopover()
  return (
    <>
      <button
        type="button"
        className="plain"
        popoverTarget="help"
        aria-current={current?.section === 'Help' ? 'true' : undefined}
      >
        Help
      </button>
      <div id="help" popover="auto" className="popover" ref={help}>
        <a href={`/docs/${current?.docs ?? 'dashboard'}`}>About this page</a>
        <a href="/docs/">Documentation</a>
        <button
          type="button"
          className="plain"
          onClick={() => {
            help.current?.hidePopover()
            onKeys()
          }}
        >
          Keyboard shortcuts
        </button>
        <Link href="/explore" aria-current={current?.path === '/explore' ? 'page' : undefined}>
          Explore the API
        </Link>
        <p className="quiet">Phaseline {import.meta.env.PHASELINE_VERSION}</p>
      </div>
    </>
  )
}
