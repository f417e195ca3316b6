import { Link, useSearch } from 'wouter'
import { humanKind } from '../../model/known.ts'
import type { Machine } from '../../model/machines.ts'
import { Phase } from '../../ui/phase.tsx'
import { useSession } from '../../ui/session-context.ts'
import { useTitle } from '../../ui/title.ts'
import { Diagram } from './diagram.tsx'
import { MachineTabs } from './machine-tabs.tsx'
import { ObjectWay } from './object-way.tsx'
import '../../styles/machines.css'

/** The phases and transitions of every kind; or one object's path through them. */
export default function MachinesPage() {
  const params = new URLSearchParams(useSearch())
  const [name, object] = [params.get('machine'), params.get('object')]
  return (
    <div className="page">
      <div className="page-head">
        <h1>State machines</h1>
        {object && <Link href="/machines">All state machines</Link>}
      </div>
      {object ? <ObjectWay key={object} id={object} chosen={name} /> : <AnyMachine name={name} />}
    </div>
  )
}

function AnyMachine({ name }: { readonly name: string | null }) {
  useTitle('State machines')
  const { machines } = useSession()
  const machine = machines.all.find((each) => each.name === name) ?? machines.all[0]
  if (!machine) return null
  return (
    <>
      <MachineTabs machines={machines.all} current={machine} />
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
    </>
  )
}

function Rows({ machine }: { readonly machine: Machine }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="card scroll" tabIndex={0} aria-label={`Transitions of ${machine.name}`}>
      <table>
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
              <td>
                <Phase phase={to} />
              </td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
