import { pointingBlocker } from '../../../graphql/objects/common-blockers.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { BlockerRef } from '../../../graphql/schema/refs.ts'
import type { DeploymentsBlocker } from '../blockers.ts'

type Blocker<R extends DeploymentsBlocker['reason']> = Extract<DeploymentsBlocker, { readonly reason: R }> & {
  readonly __typename: string
}
pointingBlocker('SiblingImportBlocker', 'It is being deleted, and another installation still imports from it.')

builder.objectRef<Blocker<'IMPORT'>>('ImportBlocker').implement({
  description: "Nothing in the project's scope has this name yet.",
  interfaces: [BlockerRef],
  fields: (t) => ({ name: t.exposeString('name') }),
})
builder.objectRef<Blocker<'BACKOFF'>>('BackoffBlocker').implement({
  interfaces: [BlockerRef],
  fields: (t) => ({ until: t.expose('until', { type: 'DateTime' }) }),
})
builder.objectRef<Blocker<'IGNORED'>>('IgnoredBlocker').implement({
  description: 'A job is remembered, and nothing starts while it is ignored.',
  interfaces: [BlockerRef],
})
