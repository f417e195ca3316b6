import { useTitle } from '../../ui/title.ts'

/** The processes that claim work, and what each of them has in its hands. */
export default function AgentsPage() {
  useTitle('Agents')
  return (
    <div className="page">
      <h1>Agents</h1>
    </div>
  )
}
