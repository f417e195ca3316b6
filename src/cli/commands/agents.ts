import type { Command } from 'commander'
import { describeTargets } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { Cli } from '../cli.ts'
import { addList, type ListOptions } from '../list.ts'
import { option } from '../options.ts'
import { since, words } from '../terminal/text.ts'

const AGENTS = gql(`query Agents($connected: Boolean, $first: Int!, $after: String) {
  agents(connected: $connected, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id name instance actor types targets targetSelector { type labels { key value } } connected connectedAt seenAt } }
  }
}`)

interface AgentsOptions extends ListOptions {
  readonly all?: boolean
}

/** `phaseline agents`: the processes that claim work. */
export function addAgents(command: Command, cli: Cli): void {
  addList(command, cli, {
    options: [option('--all', 'those that are not connected any more too')],
    document: AGENTS,
    select: ({ all }: AgentsOptions) => ({ connected: all ? null : true }),
    page: ({ agents }) => agents,
    key: 'agents',
    limit: 200,
    columns: {
      NAME: ({ name }) => name,
      INSTANCE: ({ instance }) => instance,
      ROLE: ({ actor }) => words(actor),
      TYPES: ({ types }) => types.join(', '),
      TARGETS: describeTargets,
      SEEN: ({ connected, seenAt }) => `${connected ? 'connected, ' : ''}${since(seenAt)} ago`,
    },
    none: 'No agent is connected.',
    missing: 'There are no agents that you may see.',
  })
}
