import { Link, useLocation } from 'wouter'
import { logHref, outputHref } from '../../ui/links.ts'

/** What happened, and what was printed. */
export function LogTabs() {
  const [path] = useLocation()
  return (
    <nav aria-label="Logs" className="tabs">
      <Link href={logHref({})} aria-current={path === '/log' ? 'page' : undefined}>
        Phase changes
      </Link>
      <Link href={outputHref({})} aria-current={path === '/log/output' ? 'page' : undefined}>
        Output
      </Link>
    </nav>
  )
}
