import { readPages } from 'phaseline/client-model'
import { type ReactNode, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { PROJECT_NAME, PROJECT_NAMES } from '../data/documents-projects.ts'
import { isScoped } from '../model/scope.ts'
import { useScope } from './scoped-router.tsx'
import { useSession } from './session-context.ts'
import { Empty } from './states.tsx'

/** A viewer of one project has nothing to choose. */
export function ScopeSwitch() {
  const { project, choose } = useScope()
  const { names, look } = useProjects()
  if (names.length < 2 && project === '') return null
  return (
    <select
      className="scope"
      aria-label="Scope"
      title="Whose objects, changes and output are shown"
      value={project}
      onFocus={look}
      onChange={({ target }) => choose(target.value)}
    >
      <option value="">All projects</option>
      {[...new Set([...names, ...(project ? [project] : [])])].toSorted().map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  )
}

/** The page, or that its address names a project that is not there. The audit also has events of projects that are gone. */
export function OfKnownProject({ children }: { readonly children: ReactNode }) {
  const { project, choose } = useScope()
  const [path] = useLocation()
  const isMissing = useIsMissing(project)
  if (!isMissing || !isScoped(path) || path === '/audit') return children
  return (
    <main id="main" tabIndex={-1}>
      <Empty title={`There is no project “${project}”, or you may not read it.`}>
        <button type="button" onClick={() => choose('')}>
          Show all projects
        </button>
      </Empty>
    </main>
  )
}

/** Empty: all projects, which are never missing. */
function useIsMissing(project: string): boolean {
  const { client } = useSession()
  const [missing, setMissing] = useState('')
  useEffect(() => {
    if (project === '') return
    const stop = new AbortController()
    client
      .query(PROJECT_NAME, { name: project }, { signal: stop.signal })
      .then((found) => setMissing(found.project ? '' : project))
      // The page itself says what is wrong.
      .catch(() => undefined)
    return () => stop.abort()
  }, [client, project])
  return project !== '' && missing === project
}

/** Read at first, and when someone is about to choose: projects come and go without a phase change. */
function useProjects(): { readonly names: readonly string[]; readonly look: () => void } {
  const { client } = useSession()
  const [names, setNames] = useState<readonly string[]>([])
  const [looks, setLooks] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `looks` says when to read again
  useEffect(() => {
    const stop = new AbortController()
    const read = async (): Promise<void> => {
      const listed = await readPages(Number.POSITIVE_INFINITY, async (_, after) => {
        const { projects } = await client.query(PROJECT_NAMES, { after }, { signal: stop.signal })
        return projects
      })
      setNames((listed?.nodes ?? []).map(({ name }) => name))
    }
    // Without them there is no choice; the page itself says what is wrong.
    read().catch(() => undefined)
    return () => stop.abort()
  }, [client, looks])
  return { names, look: () => setLooks((count) => count + 1) }
}
