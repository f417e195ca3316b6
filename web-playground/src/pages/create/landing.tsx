import { Link } from 'wouter'
import { createHref } from '../../ui/links.ts'
import { EXAMPLES } from './examples.ts'
import { KINDS } from './kinds.ts'

/** Everything that can be created, with its examples. */
export function Landing() {
  return (
    <ul className="create-kinds">
      {KINDS.map(({ what, label, about }) => (
        <li key={what} className="card">
          <h2>
            <Link href={createHref(what)}>{label}</Link>
          </h2>
          <p className="quiet">{about}</p>
          <p className="kind-examples">
            <span className="quiet">Examples: </span>
            {EXAMPLES[what].map((example) => (
              <Link key={example.name} href={createHref(what, { example: example.name })} title={example.needs}>
                {example.label}
              </Link>
            ))}
          </p>
        </li>
      ))}
    </ul>
  )
}
