import { Link } from 'wouter'
import { families } from '../../families/index.ts'
import { knownFamilies } from '../../model/known.ts'
import { CopyBox } from '../../ui/copy-box.tsx'
import { createHref } from '../../ui/links.ts'

/** Three ways to begin, where there is nothing yet. */
export function FirstVisit() {
  const titles = new Map(knownFamilies().map(({ name, title }) => [name, title]))
  return (
    <>
      <p className="quiet">There is nothing here yet. Three ways to begin:</p>
      <div className="cards begin-ways">
        <section className="card begin" aria-labelledby="begin-here">
          <h2 id="begin-here">Here, with an example</h2>
          <p className="quiet">A form with an example filled in: change it, then create it.</p>
          <ul>
            {families().map(
              ({ name, firstForm }) =>
                firstForm && (
                  <li key={name}>
                    <Link href={createHref(firstForm.name, { example: firstForm.example })}>{titles.get(name)}</Link>
                  </li>
                ),
            )}
          </ul>
          <Link href={createHref()}>All forms and examples</Link>
        </section>
        <section className="card begin" aria-labelledby="begin-cli">
          <h2 id="begin-cli">On the command line</h2>
          <p className="quiet">Describe what you want in a manifest, and apply it.</p>
          <CopyBox label="Command" text="phaseline apply -f my.yaml" />
          <a href="/docs/quick-start">Quick start</a>
        </section>
        <section className="card begin" aria-labelledby="begin-api">
          <h2 id="begin-api">From a program or an agent</h2>
          <p className="quiet">
            The dashboard uses the public API alone, as your program can. Agents of your own do the work.
          </p>
          <Link href="/explore">Explore the API with examples</Link>
          <a href="/docs/first-agent">Your first agent</a>
        </section>
      </div>
    </>
  )
}
