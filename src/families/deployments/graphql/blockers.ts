import { builder } from '../../../graphql/builder.ts'
import { objectLoader } from '../../../graphql/loaders.ts'
import { BlockerRef, TreeObjectRef } from '../../../graphql/refs.ts'
import type { DeploymentsBlocker } from '../blockers.ts'

type Blocker<R extends DeploymentsBlocker['reason']> = Extract<DeploymentsBlocker, { readonly reason: R }> & {
  readonly __typename: string
}
type Pointing = Blocker<'DEPENDENCY' | 'PARENT' | 'SIBLING_IMPORT'>

const pointing = (name: string, description: string) =>
  builder.objectRef<Pointing>(name).implement({
    description,
    interfaces: [BlockerRef],
    fields: (t) => ({
      object: t.field({
        type: TreeObjectRef,
        nullable: true,
        description: 'Null once it is gone.',
        resolve: ({ objectId }, _, context) => objectLoader(context).load(objectId),
      }),
    }),
  })
pointing('DependencyBlocker', 'Another object must be done first, or gone first.')
pointing('ParentBlocker', 'Its parent has not come so far as to start it.')
pointing('SiblingImportBlocker', 'It is being deleted, and another installation still imports from it.')

builder.objectRef<Blocker<'IMPORT'>>('ImportBlocker').implement({
  description: "Nothing in the project's scope has this name yet.",
  interfaces: [BlockerRef],
  fields: (t) => ({ name: t.exposeString('name') }),
})
builder.objectRef<Blocker<'BACKOFF'>>('BackoffBlocker').implement({
  interfaces: [BlockerRef],
  fields: (t) => ({ until: t.expose('until', { type: 'DateTime' }) }),
})
builder.objectRef<Blocker<'CHILDREN'>>('ChildrenBlocker').implement({
  description: 'Children have not ended the running job yet.',
  interfaces: [BlockerRef],
  fields: (t) => ({ open: t.exposeInt('open') }),
})
builder.objectRef<Blocker<'IGNORED'>>('IgnoredBlocker').implement({
  description: 'A job is remembered, and nothing starts while it is ignored.',
  interfaces: [BlockerRef],
})
