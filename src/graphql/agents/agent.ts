import { type AgentRow, countAgents, listAgents } from '../../store/loaders/agents.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { uuidCursor } from '../schema/cursors.ts'
import { ActorEnum } from '../schema/enums.ts'
import { pageCost } from '../schema/limits.ts'
import { AgentConnection, AgentRef } from '../schema/refs.ts'

/** An agent that has not been heard of for so long counts as gone. Idle ones ask for work more often than that. */
export const AGENT_SILENT_MS = 60_000
export const agentsSince = (now: Date): Date => new Date(now.getTime() - AGENT_SILENT_MS)

AgentRef.implement({
  description: 'A process that claims work.',
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name', { description: 'As its token says.' }),
    instance: t.exposeString('instance', { description: 'As the process calls itself.' }),
    actor: t.expose('actor', { type: ActorEnum }),
    types: t.stringList({ resolve: ({ types }) => [...types] }),
    targets: t.stringList({ nullable: true, resolve: ({ targets }) => targets && [...targets] }),
    connected: t.boolean({
      description: 'Heard of within the last minute.',
      resolve: ({ seenAt }, _, { system }) => seenAt >= agentsSince(system.now()),
    }),
    connectedAt: t.expose('connectedAt', { type: 'DateTime' }),
    seenAt: t.expose('seenAt', { type: 'DateTime' }),
  }),
})

builder.queryField('agents', (t) =>
  t.field({
    type: AgentConnection,
    nullable: true,
    args: t.arg.connectionArgs(),
    complexity: (args) => pageCost(args),
    resolve: (_, args, { pool }) =>
      connect(args, {
        cursor: uuidCursor,
        position: ({ id }: AgentRow) => id,
        load: (window) => listAgents(pool, window),
        count: () => countAgents(pool),
      }),
  }),
)
