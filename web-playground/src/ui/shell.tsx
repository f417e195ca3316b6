import { Suspense, useEffect, useRef, useState } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { SavedViews } from '../data/saved-views.ts'
import markUrl from '../mark.svg'
import { ObjectsPage } from '../pages/objects/objects-page.tsx'
import { OverviewPage } from '../pages/overview/overview-page.tsx'
import { ConnectionBadge } from './connection-badge.tsx'
import { Fault } from './fault.tsx'
import { lazyPart } from './lazy-part.ts'
import { familyPages, menuFor } from './menu.ts'
import { OfKnownProject, ScopeSwitch } from './scope-switch.tsx'
import { useScope } from './scoped-router.tsx'
import { useLive, useSession } from './session-context.ts'
import { Empty, Loading } from './states.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import { usePalette } from './use-palette.ts'

const TreePage = lazyPart(() => import('../pages/tree/tree-page.tsx'))
const LogPage = lazyPart(() => import('../pages/log/log-page.tsx'))
const OutputPage = lazyPart(() => import('../pages/output/output-page.tsx'))
const MachinesPage = lazyPart(() => import('../pages/machines/machines-page.tsx'))
const AgentsPage = lazyPart(() => import('../pages/agents/agents-page.tsx'))
const ProjectsPage = lazyPart(() => import('../pages/projects/projects-page.tsx'))
const CreatePage = lazyPart(() => import('../pages/create/create-page.tsx'))
const AuditPage = lazyPart(() => import('../pages/audit/audit-page.tsx'))
const TokensPage = lazyPart(() => import('../pages/tokens/tokens-page.tsx'))
const Palette = lazyPart(() => import('./palette.tsx'))
const ViewsDialog = lazyPart(() => import('./views-dialog.tsx'))
const ExplorePage = lazyPart(() => import('../pages/explore/explore-page.tsx'))

/** The frame of every page. */
export function Shell({ onForget }: { readonly onForget: () => void }) {
  const palette = usePalette()
  const { project } = useScope()
  const saved = useLive('saved views', ({ viewer }, signal) => new SavedViews(viewer.id, signal))
  const [isSaving, setIsSaving] = useState(false)
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="bar">
        <Link href="/" className="brand" aria-label="Phaseline, overview">
          <img src={markUrl} alt="" width="24" height="24" /> <span>Phaseline</span>
        </Link>
        <ScopeSwitch />
        <Nav project={project} />
        <div className="bar-end">
          <button
            type="button"
            className="plain find"
            aria-label="Find"
            title="Find objects and pages (Ctrl K)"
            onClick={palette.open}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <circle cx="7" cy="7" r="4.5" />
              <path d="M10.5 10.5 14 14" />
            </svg>
          </button>
          <button
            type="button"
            className="plain find"
            aria-label="Views"
            title="Save this view, or go to a saved one"
            onClick={() => setIsSaving(true)}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="M4 2.5h8v11L8 10.6 4 13.5z" />
            </svg>
          </button>
          <Link href="/create" className="button primary">
            Create
          </Link>
          <ConnectionBadge />
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
      </header>
      <OfKnownProject>
        <Pages />
      </OfKnownProject>
      {palette.isOpen && (
        <Suspense>
          <Palette saved={saved} project={project} onClose={palette.close} />
        </Suspense>
      )}
      {isSaving && saved && (
        <Suspense>
          <ViewsDialog saved={saved} onClose={() => setIsSaving(false)} />
        </Suspense>
      )}
    </>
  )
}

function Nav({ project }: { readonly project: string }) {
  const [path] = useLocation()
  const { viewer } = useSession()
  const bar = useRef<HTMLElement>(null)
  // The links scroll if there is no room for all of them.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the path that makes another link the current one
  useEffect(() => {
    // Newer browsers return a promise, which an effect must not return.
    bar.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'nearest' })
  }, [path])
  const isOn = (page: string): boolean => (page === '/' ? path === '/' : path.startsWith(page))
  return (
    <nav aria-label="Pages" ref={bar}>
      {menuFor(viewer, project).map(({ path: to, href, label }) => (
        <Link key={to} href={href} aria-current={isOn(to) ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  )
}

function Pages() {
  const [path] = useLocation()
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  // Focus announces another page to screen readers; they start at the first one anyway.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the path that makes another page
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: true })
    first.current = false
  }, [path])
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <Fault key={path}>
        <Suspense fallback={<Loading what="the page" />}>
          <Switch>
            <Route path="/" component={OverviewPage} />
            <Route path="/objects" component={ObjectsPage} />
            <Route path="/tree/:id">{({ id }) => <TreePage key={id} rootId={id} />}</Route>
            <Route path="/log" component={LogPage} />
            <Route path="/log/output" component={OutputPage} />
            <Route path="/machines" component={MachinesPage} />
            <Route path="/agents" component={AgentsPage} />
            {familyPages().map(({ path: at, component }) => (
              <Route key={at} path={at} component={component} />
            ))}
            <Route path="/projects" component={ProjectsPage} />
            <Route path="/create/:what?">{({ what }) => <CreatePage what={what ?? ''} />}</Route>
            <Route path="/tokens" component={TokensPage} />
            <Route path="/audit" component={AuditPage} />
            <Route path="/explore" component={ExplorePage} />
            <Route>
              <Empty title="There is no such page.">
                Go to the <Link href="/">overview</Link>, or to the <Link href="/objects">list of all objects</Link>.
              </Empty>
            </Route>
          </Switch>
        </Suspense>
      </Fault>
    </main>
  )
}
