import { Link } from 'wouter'
import type { CreateForm } from '../../families/family.ts'
import { createHref } from '../../ui/links.ts'

/** Everything that can be created, with its examples. */
export function Landing({ forms }: { readonly forms: readonly CreateForm[] }) {
  return (
    <ul className="cards create-kinds">
      {forms.map(({ name, label, about, examples }) => (
        <li key={name} className="card">
          <h2>
            <Link href={createHref(name)}>{label}</Link>
          </h2>
          <p className="quiet">{about}</p>
          <p className="kind-examples">
            <span className="quiet">Examples: </span>
            {examples.map((example) => (
              <Link key={example.name} href={createHref(name, { example: example.name })} title={example.needs}>
                {example.label}
              </Link>
            ))}
          </p>
        </li>
      ))}
    </ul>
  )
}
