import { builder } from './builder.ts'
import type { BlockerValue } from './family.ts'
import { BlockerRef } from './refs.ts'

/** What objects of every family wait for: somebody who works on them. */
export interface AgentBlockerValue extends BlockerValue {
  readonly types: readonly string[]
  readonly connected: boolean
}

builder.objectRef<AgentBlockerValue>('AgentBlocker').implement({
  description: 'An agent must take it.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    types: t.stringList({ resolve: ({ types }) => [...types] }),
    connected: t.exposeBoolean('connected', {
      description: 'Whether an agent for it was heard of within the last minute.',
    }),
  }),
})
