import type { Command } from 'commander'
import { describeTargets, notFoundRefusal, readPages } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { parseCount } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { duration, words } from '../terminal/text.ts'

const AGENTS = gql(`query Agents($first: Int!, $after: String) {
  agents(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id name instance actor types targets targetSelector { type labels { key value } } connected connectedAt seenAt } }
  }
}`)
type Agent = NodeOf<ResultOf<typeof AGENTS>['agents']>

interface AgentsOptions extends SessionOptions {
  readonly all?: boolean
  readonly limit: number
}

/** `phaseline agents`: the processes that claim work. */
export function addAgents(program: Command, cli: Cli): void {
  withSessionOptions(program.command('agents'))
    .description('list agents that are connected, with the work that they take')
    .option('--all', 'those that are not connected any more too')
    .option('--limit <count>', 'list at most this many', parseCount, 200)
    .action(async (options: AgentsOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => listAgents(session, options))
    })
}

async function listAgents(session: Session, { all, limit }: AgentsOptions): Promise<ExitCode> {
  const listed = await readPages(limit, async (first, after) => {
    const { agents } = await session.client.query(AGENTS, { first, after }, { signal: session.io.signal })
    return agents
  })
  if (!listed) return session.refuse(notFoundRefusal('There are no agents that you may see.'))
  const shown = all ? listed.nodes : listed.nodes.filter(({ connected }) => connected)
  session.emit({ totalCount: listed.totalCount, agents: shown })
  const head = ['NAME', 'INSTANCE', 'ROLE', 'TYPES', 'TARGETS', 'SEEN']
  session.list({ head, rows: shown.map(rowOf), none: 'No agent is connected.', ...(all ? { listed } : {}) })
  return EXIT.ok
}

const rowOf = ({ name, instance, actor, types, targets, targetSelector, connected, seenAt }: Agent): string[] => [
  name,
  instance,
  words(actor),
  types.join(', '),
  describeTargets({ targets, targetSelector }),
  connected ? 'connected' : `${duration(Math.max(0, Date.now() - Date.parse(seenAt)))} ago`,
]
