// First, since it must run before any schema is made.
import './no-eval.ts'
import { use } from 'react'
import { Link } from 'wouter'
import { viewerOf } from '../../data/choices.ts'
import { allForms } from '../../families/index.ts'
import { isWriter } from '../../model/viewer.ts'
import { createHref } from '../../ui/links.ts'
import { useLive } from '../../ui/session-context.ts'
import { Empty } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { Landing } from './landing.tsx'
import { MayContext } from './may.ts'
import './create.css'

/** Forms for everything that users can create. */
export default function CreatePage({ what }: { readonly what: string }) {
  const forms = use(allForms())
  const form = forms.find(({ name }) => name === what)
  useTitle(form ? `Create ${form.label.toLowerCase()}` : 'Create')
  const viewer = useLive('viewer', viewerOf)?.answer ?? null
  const isReader = viewer !== null && !isWriter(viewer.role)
  const mayNot = isReader ? `${viewer.name} has the role ${viewer.role} and may not create anything.` : null
  if (!form && what !== '')
    return (
      <Empty title={`There is no form ${what}.`}>
        See <Link href={createHref()}>what can be created</Link>.
      </Empty>
    )
  return (
    <div className="page create">
      <h1>{form ? `Create: ${form.label.toLowerCase()}` : 'Create'}</h1>
      {form && (
        <nav className="tabs" aria-label="What to create">
          {forms.map(({ name, label }) => (
            <Link
              key={name}
              href={createHref(name)}
              className="button"
              aria-current={name === what ? 'page' : undefined}
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
      <MayContext value={mayNot}>{form ? <form.component key={what} /> : <Landing forms={forms} />}</MayContext>
    </div>
  )
}
