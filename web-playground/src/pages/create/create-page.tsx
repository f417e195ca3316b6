// First: it has to be said before there is any schema.
import './no-eval.ts'
import { Link } from 'wouter'
import { viewerOf } from '../../data/choices.ts'
import { isWriter } from '../../model/viewer.ts'
import { type Creatable, createHref } from '../../ui/links.ts'
import { useLive } from '../../ui/session-context.ts'
import { Empty } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { CloudletForm } from './cloudlet-form.tsx'
import { EventForm } from './event-form.tsx'
import { InstallationForm } from './installation-form.tsx'
import { InstanceForm } from './instance-form.tsx'
import { KINDS } from './kinds.ts'
import { Landing } from './landing.tsx'
import { MayContext } from './may.ts'
import { ProjectForm } from './project-form.tsx'
import { TaskForm } from './task-form.tsx'
import './create.css'

/** Forms for whatever can be created. */
export default function CreatePage({ what }: { readonly what: string }) {
  const kind = KINDS.find((one) => one.what === what)
  useTitle(kind ? `Create ${kind.label.toLowerCase()}` : 'Create')
  const viewer = useLive('viewer', viewerOf)?.answer ?? null
  const isReader = viewer !== null && !isWriter(viewer.role)
  const mayNot = isReader ? `${viewer.name} has the role ${viewer.role} and may not create anything.` : null
  if (!kind && what !== '')
    return (
      <Empty title="There is no such form.">
        See <Link href={createHref()}>what can be created</Link>.
      </Empty>
    )
  return (
    <div className="page create">
      <h1>{kind ? `Create: ${kind.label.toLowerCase()}` : 'Create'}</h1>
      {kind && (
        <nav className="create-tabs" aria-label="What to create">
          {KINDS.map(({ what: each, label }) => (
            <Link
              key={each}
              href={createHref(each)}
              className="button"
              aria-current={each === what ? 'page' : undefined}
            >
              {label}
            </Link>
          ))}
        </nav>
      )}
      {mayNot && (
        <p className="notice" role="alert">
          {mayNot} You can look at the forms and examples; to create, sign out and use a token of the role USER or
          ADMIN.
        </p>
      )}
      <MayContext value={mayNot}>{kind ? <Form what={kind.what} /> : <Landing />}</MayContext>
    </div>
  )
}

function Form({ what }: { readonly what: Creatable }) {
  if (what === 'installation') return <InstallationForm />
  if (what === 'event') return <EventForm />
  if (what === 'task') return <TaskForm />
  if (what === 'project') return <ProjectForm />
  if (what === 'cloudlet') return <CloudletForm />
  return <InstanceForm what={what} />
}
