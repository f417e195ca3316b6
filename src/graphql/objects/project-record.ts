import type { InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core'
import type { Pool } from 'pg'
import type { RefusalOf, RefusalType } from '../../core/errors.ts'
import type { LimitName } from '../../core/limits.ts'
import type { CommonRefusal, Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { type Right, reachOf } from '../../core/rights.ts'
import type { ProjectRecord, ProjectRecords, RecordFilter, RecordName } from '../../store/project-records.ts'
import type { GraphQLContext } from '../context.ts'
import { existing, projectLoader } from '../loaders.ts'
import { builder, type Types } from '../schema/builder.ts'
import { type Connection, connect, type PageArgs } from '../schema/connection.ts'
import { cursorOf } from '../schema/cursors.ts'
import { deletedMeanwhile } from '../schema/deleted-meanwhile.ts'
import { type Defined, dropUndefined } from '../schema/drop-undefined.ts'
import { answer } from '../schema/errors.ts'
import { pageCost } from '../schema/limits.ts'
import { ProjectRef } from '../schema/refs.ts'
import { commandResult } from '../schema/result-union.ts'
import { addNodeType } from './node.ts'

/** The parts of the API that all records of projects have. */

type Readable<Row> = Omit<ProjectRecords<Row, never>, 'write'>
type Branded<Row> = Row & { readonly __typename: string }

interface Words {
  /** Says in which list its name is unique. */
  readonly name: string
  readonly generation?: string
}
/** The fields of each record. */
export const recordFields = <Row extends ProjectRecord>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, Row>,
  { name, generation = 'Counts its changes, from 1.' }: Words,
) => ({
  id: t.id({ description: 'Unique and permanent.', resolve: ({ id }) => id }),
  name: t.string({ description: name, resolve: (row) => row.name }),
  generation: t.int({ description: generation, resolve: (row) => row.generation }),
  createdAt: t.field({ type: 'DateTime', description: 'When it was created.', resolve: ({ createdAt }) => createdAt }),
  updatedAt: t.field({
    type: 'DateTime',
    description: 'When it was last changed.',
    resolve: ({ updatedAt }) => updatedAt,
  }),
  project: t.field({
    type: ProjectRef,
    description: 'Its project.',
    resolve: ({ projectId }, _, context) => existing(projectLoader(context).load(projectId), projectId),
  }),
})

/** A record that was there a moment ago. */
export async function readRecord<Row>(pool: Pool, records: Readable<Row>, id: string): Promise<Row> {
  const [row] = await records.load(pool, [id], null)
  if (!row) throw deletedMeanwhile(id)
  return row
}

interface Shown<Row extends ProjectRecord, Value extends Branded<Row>> {
  readonly ref: ObjectRef<Types, Value>
  readonly records: Readable<Row>
  readonly right: Right
  brand(row: Row): Value
}
interface Named<Row extends ProjectRecord, Value extends Branded<Row>> extends Shown<Row, Value> {
  /** The field that finds one by its name. */
  readonly field: string
  readonly noun: string
  /** The bound of a name. */
  readonly limit: LimitName
}

/** Lets `node` find records, and adds the field that finds one by its project and name. */
export function addRecord<Row extends ProjectRecord, Value extends Branded<Row>>(shown: Named<Row, Value>): void {
  const { field, noun, ref, records, right, limit, brand } = shown
  addNodeType(ref.name, right, (pool, ids, _, { viewer }) => records.load(pool, ids, reachOf(viewer, right)))
  builder.queryField(field, (t) =>
    t.field({
      right,
      type: ref,
      nullable: true,
      description: `A ${noun} by its name; null if there is none that the viewer may read.`,
      args: {
        project: t.arg.string({
          required: true,
          defaultValue: 'default',
          limit: 'reference',
          description: 'Name of the project.',
        }),
        name: t.arg.string({ required: true, limit, description: `Name of the ${noun}.` }),
      },
      // The cast: Pothos cannot see that the type, which it does not know yet, is no list.
      resolve: (async (_: object, wanted: RecordName, { pool, viewer }: GraphQLContext) => {
        const found = await records.named(pool, wanted, reachOf(viewer, right))
        return found && brand(found)
      }) as never,
    }),
  )
}

/** Adds the list of the records of a project, or of all. */
export function addRecordList<Row extends ProjectRecord, Value extends Branded<Row>>(shown: Named<Row, Value>): void {
  const { field, noun, ref, right } = shown
  const type = builder.connectionObject({ name: `${ref.name}Connection`, type: ref }, {})
  builder.queryField(`${field}s`, (t) =>
    t.field({
      right,
      type,
      nullable: true,
      description: `${noun.charAt(0).toUpperCase()}${noun.slice(1)}s that the viewer may read, by name. Null only together with an entry in \`errors\`.`,
      args: {
        project: t.arg.string({ limit: 'reference', description: 'Name of the project. Left out or null: any.' }),
        ...t.arg.connectionArgs(),
      },
      complexity: (args) => pageCost(args),
      resolve: (_, { project = null, ...args }, { pool, viewer }) => {
        const filter = { reach: reachOf(viewer, right), project }
        return connectRecords(pool, args, shown, filter)
      },
    }),
  )
}

/** @param more values of the further filters that these records have */
export const connectRecords = <Row extends ProjectRecord, Value extends Branded<Row>>(
  pool: Pool,
  args: PageArgs,
  { records, brand }: Pick<Shown<Row, Value>, 'records' | 'brand'>,
  filter: RecordFilter,
  more: readonly unknown[] = [],
): Promise<Connection<Value>> =>
  connect(args, {
    cursor: cursorOf('text', 'uuid'),
    position: ({ name, id }: Value) => [name, id] as const,
    load: async (window) => (await records.list(pool, filter, window, more)).map(brand),
    count: () => records.count(pool, filter, more),
  })

interface Deleted<Name extends string> {
  readonly __typename: Name
  readonly projectId: string
  readonly name: string
}
/** The answer to the deletion of something that a project had by a name. */
export const deletedRecord = <const Name extends string>(typename: Name, noun: string) => ({
  ref: builder.objectRef<Deleted<Name>>(typename).implement({
    description: `Confirms that ${noun} is deleted.`,
    fields: (t) => ({
      name: t.string({ description: `Name that ${the(noun)} had.`, resolve: ({ name }) => name }),
      project: t.field({
        type: ProjectRef,
        nullable: true,
        description: `Project that had ${the(noun)}; null once the project is deleted.`,
        resolve: ({ projectId }, _, context) => projectLoader(context).load(projectId),
      }),
    }),
  }),
  of: ({ projectId, name }: { readonly projectId: string; readonly name: string }): Deleted<Name> => ({
    ...{ __typename: typename, projectId, name },
  }),
})
const the = (noun: string): string => `the ${noun.replace(/^a /, '')}`

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
interface Written {
  readonly objectId: string
}
interface Identified {
  readonly id: string
}
interface Edit extends Identified {
  readonly expectedGeneration?: number | null
}
type Given<Fields extends InputFieldMap> = Defined<InputShapeFromFields<Fields>>
interface Mutation<Input, Done, Type extends RefusalType> {
  /** Its refusals are those of the mutation. */
  readonly command: { readonly refusals: readonly Type[] }
  readonly description: string
  run(
    context: GraphQLContext,
  ): (viewer: Viewer, input: Input) => Promise<Outcome<Done, RefusalOf<Type | CommonRefusal>>>
}
/** Inputs of a mutation, besides those that all such have. It comes before `run`, whose input it types. */
interface Inputs<Fields extends InputFieldMap> {
  fields(t: InputBuilder): Fields
}

/** Adds the mutations that create, update and delete a record. Returns the answer to one that has written it. */
export function addRecordMutations<
  Row extends ProjectRecord,
  Value extends Branded<Row>,
  New extends InputFieldMap,
  Edited extends InputFieldMap,
  NewRefusal extends RefusalType,
  EditRefusal extends RefusalType,
  DeleteRefusal extends RefusalType,
>(
  kind: { noun: string; records: Readable<Row>; rights: Readonly<Record<'create' | 'update' | 'delete', Right>> },
  of: Pick<Shown<Row, Value>, 'ref' | 'brand'> & {
    /** Describes the project of a new one. */
    readonly project?: string
    readonly create: Inputs<New> & Mutation<RecordName & Given<New>, Written, NewRefusal>
    readonly update: Inputs<Edited> & Mutation<Edit & Given<Edited>, Written, EditRefusal>
    readonly delete: Mutation<Identified, { readonly record: Row }, DeleteRefusal>
  },
) {
  const { noun, records, rights } = kind
  const { ref, brand, project = 'Name of its project.' } = of
  const { name } = ref
  const written = async ({ pool }: GraphQLContext, { objectId }: Written) =>
    brand(await readRecord(pool, records, objectId))
  const deleted = deletedRecord(`Deleted${name}`, `a ${noun}`)
  /** The casts: Pothos cannot see that the type, which it does not know yet, is no list. */
  const add = <Input, Done, Type extends RefusalType, Answer extends { readonly __typename: string }>(
    verb: 'create' | 'update' | 'delete',
    { command, description, run }: Mutation<Input, Done, Type>,
    answered: ObjectRef<Types, Answer>,
    said: string,
    input: (t: InputBuilder) => InputFieldMap,
    accepted: (context: GraphQLContext, done: Done) => Answer | Promise<Answer>,
  ) =>
    builder.mutationField(`${verb}${name}`, (t) =>
      t.fieldWithInput({
        right: rights[verb],
        ...commandResult(`${verb[0]?.toUpperCase()}${verb.slice(1)}${name}Result`, answered, command),
        ...{ description, typeOptions: { description: said }, input: input(t.input) },
        resolve: (_, { input }, context) =>
          answer(run(context)(context.viewer, dropUndefined(input) as Input), (done) =>
            accepted(context, done),
          ) as never,
      }),
    )
  const id = { required: true, description: `Id of the ${noun}.` } as const
  const newFields = (t: InputBuilder): InputFieldMap => ({
    project: t.string({ required: true, defaultValue: 'default', limit: 'reference', description: project }),
    name: t.string({
      required: true,
      limit: 'name',
      description: `A letter or _, then letters, digits, _ or -. Unique among the ${noun}s of the project.`,
    }),
    ...of.create.fields(t),
  })
  const editFields = (t: InputBuilder): InputFieldMap => ({
    id: t.id(id),
    ...of.update.fields(t),
    expectedGeneration: t.int({
      description: 'Refused (GENERATION_MISMATCH) unless it has this generation. Left out or null: any.',
    }),
  })
  add('create', of.create, ref, `A new ${noun}.`, newFields, written)
  add('update', of.update, ref, `The ${noun} as it is to be.`, editFields, written)
  const onlyId = (t: InputBuilder): InputFieldMap => ({ id: t.id(id) })
  add('delete', of.delete, deleted.ref, `The ${noun} to delete.`, onlyId, (_, { record }) => deleted.of(record))
  return written
}
