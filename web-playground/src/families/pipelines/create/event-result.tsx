import { Link } from 'wouter'
import { humanKind } from '../../../model/known.ts'
import { plural } from '../../../model/words.ts'
import { treeHref } from '../../../ui/links.ts'
import type { CreatedEvents } from '../data.ts'

/** The result of an event that has created no tree, or several. */
export function EventResult({ result }: { readonly result: CreatedEvents }) {
  const all = [...result.events, ...result.tasks]
  if (all.length === 0)
    return (
      <div className="notice" role="alert">
        <span>
          <b>Nothing was created:</b> no project has subscribed to this source and type with these qualifiers and
          labels. That is no failure: nobody wanted to know. See the subscriptions of your{' '}
          <Link href="/projects">projects</Link>, or choose the project that the event is for.
        </span>
      </div>
    )
  return (
    <section className="card" aria-label="What was created">
      <p role="status">Created {plural(all.length, 'object')}.</p>
      <ul>
        {all.map(({ id, kind, name, project, root }) => (
          <li key={id}>
            <Link href={treeHref(root.id, id)}>
              {humanKind(kind)} {name}
            </Link>{' '}
            <span className="quiet">in {project.name}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
