import type { Load } from '../../data/agents.ts'
import { duration, plural } from '../../model/words.ts'

/** How much work waits, in all projects. */
export function OpenWork({ load: { complete, work, trees } }: { readonly load: Load }) {
  return (
    <section className="card" aria-labelledby="open-work">
      <h2 id="open-work">Open work of all projects</h2>
      <p className="quiet">
        {plural(trees.due, 'tree')} {trees.due === 1 ? 'waits' : 'wait'} for the engine
        {trees.due > 0 && `, the oldest for ${duration(trees.oldestSeconds * 1000)}`}.
        {!complete && ' The database has not answered in time: some of these figures are missing.'}
      </p>
      {work.length === 0 ? (
        <p className="quiet">No work is open.</p>
      ) : (
        <table>
          <thead>
            <tr>
              {['Type', 'Waiting', 'Oldest', 'Deferred', 'Claimed'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {work.map(({ type, offered, oldestSeconds, deferred, claimed }) => (
              <tr key={type}>
                <th scope="row">
                  <code>{type}</code>
                </th>
                <td>{offered.toLocaleString('en')}</td>
                <td>{oldestSeconds === null ? '' : duration(oldestSeconds * 1000)}</td>
                <td>{deferred.toLocaleString('en')}</td>
                <td>{claimed.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
