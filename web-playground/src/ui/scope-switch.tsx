import { readPages } from 'phaseline/client-model'
import { useEffect, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { PROJECT_NAMES } from '../data/documents-projects.ts'
import { isScoped, projectIn, scopedHref } from '../model/scope.ts'
import { useSession } from './session-context.ts'

/** The project that pages show, as their address says; on others, the last one that was chosen. Empty: all. */
export function useScope(): string {
  const [path] = useLocation()
  const search = useSearch()
  const [last, setLast] = useState('')
  const project = isScoped(path) ? projectIn(search) : last
  useEffect(() => setLast(project), [project])
  return project
}

/** A viewer of one project has nothing to choose. */
export function ScopeSwitch({ project }: { readonly project: string }) {
  const [path, navigate] = useLocation()
  const search = useSearch()
  const { names, look } = useProjects()
  if (names.length < 2 && project === '') return null
  return (
    <select
      className="scope"
      aria-label="Scope"
      title="Whose objects, changes and output are shown"
      value={project}
      onFocus={look}
      onChange={({ target }) => navigate(scopedHref(path, search, target.value))}
    >
      <option value="">All projects</option>
      {[...new Set([...names, ...(project ? [project] : [])])].toSorted().map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  )
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
