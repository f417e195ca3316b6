import { Suspense, useEffect, useRef, useState } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { SavedViews } from '../data/saved-views.ts'
import { Bar } from './bar.tsx'
import { Fault } from './fault.tsx'
import { Find } from './find.tsx'
import { lazyPart } from './lazy-part.ts'
import { familyPages, useMenu } from './menu.ts'
import { OfKnownProject } from './scope-switch.tsx'
import { useScope } from './scoped-router.tsx'
import { useLive } from './session-context.ts'
import { Empty, Loading } from './states.tsx'
import { useShownTitle } from './title.ts'
import { usePalette } from './use-palette.ts'

const OverviewPage = lazyPart(() => import('../pages/overview/overview-page.tsx'))
const ObjectsPage = lazyPart(() => import('../pages/objects/objects-page.tsx'))
const TreePage = lazyPart(() => import('../pages/tree/tree-page.tsx'))
const LogPage = lazyPart(() => import('../pages/log/log-page.tsx'))
const OutputPage = lazyPart(() => import('../pages/output/output-page.tsx'))
const MachinesPage = lazyPart(() => import('../pages/machines/machines-page.tsx'))
const AgentsPage = lazyPart(() => import('../pages/agents/agents-page.tsx'))
const ProjectsPage = lazyPart(() => import('../pages/projects/projects-page.tsx'))
const HooksPage = lazyPart(() => import('../pages/hooks/hooks-page.tsx'))
const CreatePage = lazyPart(() => import('../pages/create/create-page.tsx'))
const AuditPage = lazyPart(() => import('../pages/audit/audit-page.tsx'))
const TokensPage = lazyPart(() => import('../pages/tokens/tokens-page.tsx'))
const ViewsDialog = lazyPart(() => import('./views-dialog.tsx'))
const KeysDialog = lazyPart(() => import('./keys-dialog.tsx'))
const ExplorePage = lazyPart(() => import('../pages/explore/explore-page.tsx'))

/** The frame of every page. */
export function Shell({ onForget }: { readonly onForget: () => void }) {
  const [open, setOpen] = useState<'views' | 'keys' | null>(null)
  const close = (): void => setOpen(null)
  const palette = usePalette(() => setOpen('keys'))
  const { project } = useScope()
  const menu = useMenu(project)
  const saved = useLive('saved views', ({ viewer }, signal) => new SavedViews(viewer.id, signal))
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <Bar
        menu={menu}
        onFind={palette.open}
        onViews={() => setOpen('views')}
        onKeys={() => setOpen('keys')}
        onForget={onForget}
      />
      <PageName />
      <OfKnownProject>
        <Pages />
      </OfKnownProject>
      <Suspense>
        {open === 'views' && saved && <ViewsDialog saved={saved} onClose={close} />}
        {open === 'keys' && <KeysDialog onClose={close} />}
      </Suspense>
      {palette.isOpen && <Find saved={saved} sections={menu.sections} onClose={palette.close} />}
    </>
  )
}

/** A page is shown in the place of another one without being loaded: a screen reader says which. */
function PageName() {
  return (
    <p className="hidden" role="status">
      {useShownTitle()}
    </p>
  )
}

function Pages() {
  const [path] = useLocation()
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  // The keyboard begins at another page, as it does at the first one anyway.
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
            {familyPages().map(
              ({ path: at, component }) => component && <Route key={at} path={at} component={component} />,
            )}
            <Route path="/projects" component={ProjectsPage} />
            <Route path="/hooks" component={HooksPage} />
            <Route path="/create/:what?">{({ what }) => <CreatePage what={what ?? ''} />}</Route>
            <Route path="/tokens" component={TokensPage} />
            <Route path="/audit" component={AuditPage} />
            <Route path="/explore" component={ExplorePage} />
            <Route>
              <Empty title={`There is no page ${path}.`} isPage>
                Go to the <Link href="/">overview</Link>, or to the <Link href="/objects">list of all objects</Link>.
              </Empty>
            </Route>
          </Switch>
        </Suspense>
      </Fault>
    </main>
  )
}
