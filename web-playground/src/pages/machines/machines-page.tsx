import { useLocation, useSearch } from 'wouter'
import type { Machine } from '../../model/machines.ts'
import { humanKind } from '../../model/words.ts'
import { Phase } from '../../ui/phase.tsx'
import { useSession } from '../../ui/session-context.ts'
import { useTitle } from '../../ui/title.ts'
import { Diagram } from './diagram.tsx'
import '../../styles/machines.css'

/** Every phase that an object can be in, and who may move it from there. */
export default function MachinesPage() {
  useTitle('Machines')
  const { machines } = useSession()
  const [, navigate] = useLocation()
  const name = new URLSearchParams(useSearch()).get('machine')
  const machine = machines.all.find((each) => each.name === name) ?? machines.all[0]
  if (!machine) return null
  return (
    <div className="page">
      <h1>Machines</h1>
      <nav className="tabs" aria-label="Machines">
        {machines.all.map((each) => (
          <button
            key={each.name}
            type="button"
            aria-current={each === machine ? 'true' : undefined}
            onClick={() => navigate(`/machines?machine=${each.name}`, { replace: true })}
          >
            {each.name}
          </button>
        ))}
      </nav>
      <p className="quiet">
        Of {machine.kinds.map(humanKind).join(', ')}. Starts as <Phase phase={machine.initial} />, ends as{' '}
        {machine.final.map((phase) => (
          <span key={phase}>
            <Phase phase={phase} />{' '}
          </span>
        ))}
      </p>
      <Diagram key={machine.name} machine={machine} />
      <Rows machine={machine} />
    </div>
  )
}

function Rows({ machine }: { readonly machine: Machine }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="card scroll" tabIndex={0} aria-label={`Transitions of ${machine.name}`}>
      <table className="rows">
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Who</th>
            <th scope="col">To</th>
            <th scope="col">What happens</th>
          </tr>
        </thead>
        <tbody>
          {machine.transitions.map(({ from, actor, to, reason }) => (
            <tr key={`${from} ${actor} ${to} ${reason}`}>
              <td>
                <Phase phase={from} />
              </td>
              <td>{actor}</td>
              <td>{to === 'GONE' ? <span className="phase is-removing">∅ GONE</span> : <Phase phase={to} />}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
