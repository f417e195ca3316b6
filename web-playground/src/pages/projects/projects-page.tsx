import { useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { AskedStore } from '../../data/asked-store.ts'
import { readProjects } from '../../data/projects-store.ts'
import type { ProjectRow } from '../../model/project.ts'
import { plural } from '../../model/words.ts'
import { projectHref } from '../../ui/links.ts'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { NewProject } from './new-project.tsx'
import { ProjectDetail } from './project-detail.tsx'
import '../../styles/projects.css'

/** Projects with their subscriptions, and their secrets, which can only be written. */
export default function ProjectsPage() {
  useTitle('Projects')
  const store = useLive(
    'projects',
    (session, signal) => new AskedStore(session, { ask: readProjects, concerns: () => false }, signal),
  )
  const [, navigate] = useLocation()
  const list = store?.answer
  const chosen = new URLSearchParams(useSearch()).get('name') ?? list?.projects[0]?.name
  return (
    <div className="page">
      <div className="page-head">
        <h1>Projects</h1>
        <span className="quiet" role="status">
          {list && plural(list.projects.length, 'project')}
        </span>
      </div>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!list && !store?.error && <Loading what="projects" />}
      {list && (
        <div className="projects">
          <div className="project-side">
            <Names projects={list.projects} chosen={chosen} />
            {list.mayCreate && (
              <NewProject
                onCreated={(name) => {
                  void store.refresh()
                  navigate(projectHref(name))
                }}
              />
            )}
          </div>
          {chosen === undefined ? (
            <Empty title="There is no project that you may see." />
          ) : (
            <ProjectDetail
              key={chosen}
              name={chosen}
              mayWrite={list.mayWrite}
              onGone={() => {
                void store.refresh()
                navigate('/projects')
              }}
            />
          )}
        </div>
      )}
    </div>
  )
}

/** Above this number a list is searched rather than read. */
const SEARCHED = 12

interface NamesProps {
  readonly projects: readonly ProjectRow[]
  readonly chosen: string | undefined
}
function Names({ projects, chosen }: NamesProps) {
  const [text, setText] = useState('')
  const shown = projects.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  return (
    <nav aria-label="Projects" className="card project-names">
      {projects.length > SEARCHED && (
        <input
          type="search"
          aria-label="Search projects"
          placeholder="contains…"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <ul>
        {shown.map(({ name, workerTemplate, subscriptions, secrets }) => (
          <li key={name}>
            <Link href={projectHref(name)} aria-current={name === chosen ? 'true' : undefined}>
              {name}
            </Link>
            <span className="quiet">
              {[
                workerTemplate && 'worker',
                subscriptions.length > 0 && plural(subscriptions.length, 'subscription'),
                secrets.length > 0 && plural(secrets.length, 'secret'),
              ]
                .filter(Boolean)
                .join(', ')}
            </span>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className="quiet">None of this name.</p>}
    </nav>
  )
}
