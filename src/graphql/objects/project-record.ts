import type { ObjectRef } from '@pothos/core'
import type { Pool } from 'pg'
import type { LimitName } from '../../core/limits.ts'
import { type Right, reachOf } from '../../core/rights.ts'
import type { ProjectRecord, ProjectRecords, RecordFilter, RecordName } from '../../store/project-records.ts'
import type { GraphQLContext } from '../context.ts'
import { existing, projectLoader } from '../loaders.ts'
import { builder, type Types } from '../schema/builder.ts'
import { type Connection, connect, type PageArgs } from '../schema/connection.ts'
import { cursorOf } from '../schema/cursors.ts'
import { deletedMeanwhile } from '../schema/deleted-meanwhile.ts'
import { pageCost } from '../schema/limits.ts'
import { ProjectRef } from '../schema/refs.ts'
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
