import { pointingBlocker } from '../../../graphql/objects/common-blockers.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { BlockerRef } from '../../../graphql/schema/refs.ts'
import type { DeploymentsBlocker } from '../blockers.ts'

type Blocker<R extends DeploymentsBlocker['reason']> = Extract<DeploymentsBlocker, { readonly reason: R }> & {
  readonly __typename: string
}
pointingBlocker('SiblingImportBlocker', 'The installation is to be deleted, and another one still imports from it.')

builder.objectRef<Blocker<'IMPORT'>>('ImportBlocker').implement({
  description: 'A required import has no value in the scope of the project.',
  interfaces: [BlockerRef],
  fields: (t) => ({ name: t.exposeString('name', { description: 'Name of the data that is missing.' }) }),
})
builder.objectRef<Blocker<'BACKOFF'>>('BackoffBlocker').implement({
  description: 'An attempt failed, and the next one is made later.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    until: t.expose('until', { type: 'DateTime', description: 'When the work is offered again.' }),
  }),
})
builder.objectRef<Blocker<'IGNORED'>>('IgnoredBlocker').implement({
  description: 'A job is to begin, and none does while the installation, or one below it, is ignored.',
  interfaces: [BlockerRef],
})
