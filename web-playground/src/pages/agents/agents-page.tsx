import { Link } from 'wouter'
import { AGENTS_NOW, type AgentsNow } from '../../data/agents.ts'
import { AskedStore } from '../../data/asked-store.ts'
import { families } from '../../families/index.ts'
import { plural } from '../../model/words.ts'
import { type Busy, busyAgents, unservedOf } from '../../model/work.ts'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { AgentCard } from './agent-card.tsx'
import { OpenWork } from './open-work.tsx'
import { UnservedWork } from './unserved-work.tsx'
import '../../styles/agents.css'

/** The processes that claim work, and the claimed work of each. */
export default function AgentsPage() {
  useTitle('Agents')
  const { viewer } = useSession()
  const store = useLive('agents', (session, signal) => new AskedStore(session, AGENTS_NOW, signal))
  const answer = store?.answer
  return (
    <div className="page">
      <div className="page-head">
        <h1>Agents</h1>
        <span className="quiet" role="status">
          {answer && counted(answer)}
        </span>
        {viewer.isAdmin && (
          <Link href="/tokens" className="button end">
            Connect an agent
          </Link>
        )}
      </div>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!answer && !store?.error && <Loading what="agents" />}
      {answer && <Agents answer={answer} />}
    </div>
  )
}

const counted = ({ agents, agentTotal }: AgentsNow): string => {
  const connected = agents.filter((agent) => agent.connected).length
  return `${connected} connected, ${(agentTotal - connected).toLocaleString('en')} unreachable`
}

function Agents({ answer }: { readonly answer: AgentsNow }) {
  const { agents, agentTotal, work, workTotal, load, loadProblem } = answer
  const all = busyAgents(agents, work)
  const here = all.filter(({ agent }) => agent.connected)
  const lost = all.filter(({ agent, claimed }) => !agent.connected && claimed.length > 0)
  const gone = all.filter(({ agent, claimed }) => !agent.connected && claimed.length === 0)
  return (
    <>
      <UnservedWork unserved={unservedOf(work)} isPart={workTotal > work.length} />
      {load && <OpenWork load={load} />}
      {loadProblem !== null && <p className="quiet">How much work waits is not shown: {loadProblem}</p>}
      {all.length === 0 && (
        <Empty title="No agents yet.">
          Agents claim work over the API with a token of the role AGENT; <code>npm start</code> brings some of its own.
          {families().flatMap(({ pages }) =>
            pages.map(
              ({ path, label, agents: others }) =>
                others && (
                  <span key={path}>
                    {others} are on the page <Link href={path}>{label}</Link>.
                  </span>
                ),
            ),
          )}
        </Empty>
      )}
      <Group title="Disconnected with claimed work" busy={lost} />
      <Group title="Connected" busy={here} />
      {gone.length > 0 && (
        <details className="gone">
          <summary>{plural(gone.length, 'agent')} unreachable for a minute, without claimed work</summary>
          <Group title="" busy={gone} />
        </details>
      )}
      {agentTotal > agents.length && (
        <p className="quiet">The first {agents.length.toLocaleString('en')} that came are shown.</p>
      )}
      {workTotal > work.length && (
        <p className="quiet">
          Based on the {work.length} oldest of {workTotal.toLocaleString('en')} unfinished objects. The{' '}
          <Link href="/objects?finished=no">list</Link> has them all.
        </p>
      )}
    </>
  )
}

function Group({ title, busy }: { readonly title: string; readonly busy: readonly Busy[] }) {
  if (busy.length === 0) return null
  return (
    <>
      {title && <h2>{title}</h2>}
      <div className="cards">
        {busy.map((one) => (
          <AgentCard key={one.agent.id} busy={one} />
        ))}
      </div>
    </>
  )
}
