import { addRecord, addRecordList, addRecordMutations, recordFields } from '../../../graphql/objects/project-record.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { NodeRef } from '../../../graphql/schema/refs.ts'
import { INVARIANT, invariantCommands } from '../commands/invariants.ts'
import { invariantRights } from '../rights.ts'
import { type InvariantRow, invariantRecords } from '../store/invariants.ts'

type InvariantValue = InvariantRow & { readonly __typename: 'Invariant' }
const brand = (row: InvariantRow): InvariantValue => ({ ...row, __typename: 'Invariant' })

const AfterRef = builder.objectRef<InvariantRow>('InvariantAfter').implement({
  description: 'The root installation of another project that has to succeed first, with the same spec.',
  fields: (t) => ({
    project: t.exposeString('afterProject', {
      description:
        'Name that the project had when the invariant was written. Once it is deleted, nothing passes before an edit of the invariant.',
    }),
    name: t.exposeString('afterName', {
      nullable: true,
      description: 'Name of the root installation; null: that of the one that is to begin.',
    }),
    sameValues: t.stringList({
      description:
        'Imports whose own values have to be equal as well, in their order. Other imports may have other values.',
      resolve: ({ sameValues }) => [...sameValues],
    }),
  }),
})

const InvariantRef = builder.objectRef<InvariantValue>('Invariant').implement({
  description:
    'A rule of a project that no step breaks: a job of a root installation in it begins once a run of a root installation in another project has SUCCEEDED with the same spec. Own values of imports may differ. Until then the job waits, with an InvariantBlocker.',
  interfaces: [NodeRef],
  fields: (t) => ({
    ...recordFields(t, { name: 'Unique among the invariants of its project.' }),
    description: t.exposeString('description', { description: 'A sentence for people; empty if it has none.' }),
    after: t.field({
      type: AfterRef,
      description: 'The root installation that has to succeed first.',
      resolve: (invariant) => invariant,
    }),
  }),
})

const shown = {
  ...{ field: 'invariant', noun: INVARIANT.noun, ref: InvariantRef, records: invariantRecords },
  ...{ right: invariantRights.read, limit: 'name' as const, brand },
}
addRecord(shown)
addRecordList(shown)

const AfterInput = builder.inputType('InvariantAfterInput', {
  description: 'The root installation of another project that has to succeed first, with the same spec.',
  fields: (t) => ({
    project: t.string({
      required: true,
      limit: 'reference',
      description: 'Name of another project, which the viewer may read.',
    }),
    name: t.string({
      limit: 'name',
      description: 'Name of the root installation. Left out or null: that of the one that is to begin.',
    }),
    sameValues: t.stringList({
      limit: 'sameValues',
      description:
        'Imports whose own values have to be equal as well; a value of the scope is not compared. Left out or null: none.',
    }),
  }),
})
const settings = (t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) => ({
  description: t.string({ limit: 'description', description: 'A sentence for people. Left out or null: none.' }),
  after: t.field({ type: AfterInput, required: true, description: 'The root installation that has to succeed first.' }),
})

addRecordMutations(INVARIANT, {
  ...{ ref: InvariantRef, brand },
  create: {
    command: invariantCommands.createInvariant,
    description:
      'Creates an invariant, for jobs that begin from then on; those that run continue. Refused if the name is taken (ALREADY_EXISTS), and beyond 20 invariants in a project (LIMIT).',
    fields: (t) => ({ ...settings(t), idempotencyKey: t.string(IDEMPOTENCY_KEY) }),
    run: ({ invariants }) => invariants.createInvariant,
  },
  update: {
    command: invariantCommands.updateInvariant,
    description: 'Replaces an invariant. Jobs that wait for it are judged again.',
    fields: settings,
    run: ({ invariants }) => invariants.updateInvariant,
  },
  delete: {
    command: invariantCommands.deleteInvariant,
    description: 'Deletes an invariant. Jobs that wait for it begin.',
    run: ({ invariants }) => invariants.deleteInvariant,
  },
})
