import { objectOf } from '../../../graphql/loaders.ts'
import { pointingBlocker } from '../../../graphql/objects/common-blockers.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { BlockerRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import type { DeploymentsBlocker, LeftOutCause } from '../rules/blockers.ts'

type Blocker<R extends DeploymentsBlocker['reason']> = Extract<DeploymentsBlocker, { readonly reason: R }> & {
  readonly __typename: string
}
pointingBlocker('SiblingImportBlocker', 'The installation is to be deleted, and another one still imports from it.')

builder.objectRef<Blocker<'IMPORT'>>('ImportBlocker').implement({
  description: 'A required import has no value in the scope of the project.',
  interfaces: [BlockerRef],
  fields: (t) => ({ name: t.exposeString('name', { description: 'Name of the data that is missing.' }) }),
})
builder.objectRef<Blocker<'INVARIANT'>>('InvariantBlocker').implement({
  description:
    'An invariant of the project lets the job begin only after a success of a root installation of another project with the same spec.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    invariantName: t.exposeString('invariant', { description: 'Name of the invariant.' }),
    afterProject: t.exposeString('project', { description: 'Name of the other project.' }),
    afterName: t.exposeString('name', { description: 'Name of the root installation there.' }),
  }),
})
const LeftOutCauseEnum = builder.enumType('LeftOutCause', {
  description: 'Why a job will not reach an object. More may be added.',
  values: {
    PREDECESSOR_FAILED: { description: 'Something that had to end before it ended without success.' },
    FAILED: {
      description: 'Something else in the job ended without success, after which the job starts nothing more.',
    },
    CANCELED: { description: 'The job was cancelled.' },
    STUCK: { description: 'The job could not continue: the remaining objects waited for each other.' },
  } satisfies Record<LeftOutCause, { description: string }>,
})
builder.objectRef<Blocker<'NOT_IN_JOB'>>('NotInJobBlocker').implement({
  description:
    'The running or last job will not reach the object: it keeps its phase, and counts as finished until the next job.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    cause: t.expose('cause', { type: LeftOutCauseEnum, description: 'Why the job will not reach it.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description:
        'The object at which the job stopped; null if it was cancelled, if the object is deleted, or if the viewer may not read it.',
      resolve: ({ objectId, ...rest }, _, context) =>
        objectId === null ? null : objectOf({ ...rest, objectId }, _, context),
    }),
  }),
})
builder.objectRef<Blocker<'IGNORED'>>('IgnoredBlocker').implement({
  description: 'A job is to begin, and none does while the installation, or one below it, is ignored.',
  interfaces: [BlockerRef],
})
