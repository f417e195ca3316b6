import { RIGHTS } from '../../core/rights.ts'
import { type AgentQuery, type AgentRow, countAgents, listAgents } from '../../store/loaders/agents.ts'
import { TargetSelectorRef } from '../objects/target-selector.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { uuidCursor } from '../schema/cursors.ts'
import { ActorEnum } from '../schema/enums.ts'
import { pageCost } from '../schema/limits.ts'
import { AgentConnection, AgentRef } from '../schema/refs.ts'

/** An agent that was silent for longer counts as gone. Idle agents call more often. */
export const AGENT_SILENT_MS = 60_000
export const agentsSince = (now: Date): Date => new Date(now.getTime() - AGENT_SILENT_MS)

AgentRef.implement({
  description: 'A process that claims work.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    name: t.exposeString('name', { description: 'Name of its principal.' }),
    instance: t.exposeString('instance', { description: 'Name that the process gives itself in claimWork.' }),
    actor: t.expose('actor', { type: ActorEnum, description: 'As whom it moves objects.' }),
    types: t.stringList({
      description: 'Types of work that it claimed last.',
      resolve: ({ types }) => [...types],
    }),
    targets: t.stringList({
      nullable: true,
      description:
        'Targets of the work that it claimed last, by name; null: any target, or with `targetSelector` those that it selects.',
      resolve: ({ targets }) => targets && [...targets],
    }),
    targetSelector: t.field({
      type: TargetSelectorRef,
      nullable: true,
      description: 'Targets of the work that it claimed last, by type and labels; null: none.',
      resolve: ({ targetSelector }) => targetSelector,
    }),
    dryRuns: t.exposeBoolean('dryRuns', { description: 'True if it does dry runs as well.' }),
    connected: t.boolean({
      description: 'True if it called within the last minute.',
      resolve: ({ seenAt }, _, { system }) => seenAt >= agentsSince(system.now()),
    }),
    connectedAt: t.expose('connectedAt', {
      type: 'DateTime',
      description: 'Time of its first call.',
    }),
    seenAt: t.expose('seenAt', { type: 'DateTime', description: 'Time of its last call, to half a minute.' }),
  }),
})

builder.queryField('agents', (t) =>
  t.field({
    right: RIGHTS.readAgents,
    type: AgentConnection,
    nullable: true,
    description:
      'Processes that claim work in projects that the viewer may read, also those that are not connected any more (PHASELINE_AGENT_RETENTION). Null only together with an entry in `errors`.',
    args: {
      connected: t.arg.boolean({ description: 'The required value of `connected`. Left out or null: any.' }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: (_, { connected = null, ...args }, { pool, system, viewer: { projects } }) => {
      const query: AgentQuery = { projects, connected, since: agentsSince(system.now()) }
      return connect(args, {
        cursor: uuidCursor,
        position: ({ id }: AgentRow) => id,
        load: (window) => listAgents(pool, query, window),
        count: () => countAgents(pool, query),
      })
    },
  }),
)
