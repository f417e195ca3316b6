import { Link, useLocation, useSearch } from 'wouter'
import { projectIn } from '../../model/scope.ts'
import { logHref, outputHref } from '../../ui/links.ts'

/** Tabs of the log and of the output. */
export function LogTabs() {
  const [path] = useLocation()
  const project = projectIn(useSearch())
  return (
    <nav aria-label="Logs" className="tabs">
      <Link href={logHref({ project })} className="button" aria-current={path === '/log' ? 'page' : undefined}>
        Phase changes
      </Link>
      <Link
        href={outputHref({ project })}
        className="button"
        aria-current={path === '/log/output' ? 'page' : undefined}
      >
        Output
      </Link>
    </nav>
  )
}
