import type { Pool } from 'pg'
import type { ObjectRow } from '../../core/tree.ts'
import type { Client } from '../client.ts'
import { bigint, boolean, float8, integer, nullable, text, textOf, uuid } from '../column-types.ts'
import { HEAD, readMark } from '../log-mark.ts'
import { inSnapshot } from '../operation-reads.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'
import { OBJECT_SELECTION } from './objects.ts'

/** Reads parts of trees as of one moment, together with the place in the log that this moment has. */

export interface ObjectsRequest {
  readonly part: 'objects'
  readonly rootId: string
  readonly limit: number
  /** The end of the previous page, and the sequence that it was read at. */
  readonly after: { readonly sequence: number; readonly id: string } | null
}
export interface RelationsRequest {
  readonly part: 'relations'
  readonly rootId: string
  /** Null: of both kinds. */
  readonly kind: RelationRow['kind'] | null
  readonly limit: number
  readonly after: ({ readonly sequence: number } & RelationRow) | null
}
export interface HeadRequest {
  readonly part: 'head'
  readonly rootId: string
}
export type SnapshotRequest = ObjectsRequest | RelationsRequest | HeadRequest

export interface RelationRow {
  readonly from: string
  readonly to: string
  readonly kind: 'PARENT' | 'DEPENDS_ON'
}
export interface Snapshot {
  /** All pages with this sequence belong together: nothing has moved in the tree between them. */
  readonly sequence: number
  /** The mark of the change at the sequence; only where the head is requested. */
  readonly mark: string | null
  readonly objects: readonly ObjectRow[]
  readonly relations: readonly RelationRow[]
}

/** All of the requests in one transaction, answered in order: a statement for the head, and one or two for each request. */
export const readSnapshots = (pool: Pool, requests: readonly SnapshotRequest[]): Promise<readonly Snapshot[]> =>
  inSnapshot(pool, async (client) => {
    // The head comes first: it sets the snapshot that everything else is read from.
    const head = await readHead(client)
    const sequences = await sequencesOf(client, requests, head)
    const answers: Snapshot[] = []
    for (const request of requests) {
      const sequence = sequences.get(request.rootId) ?? head
      const mark = request.part === 'head' ? await readMark(client, sequence) : null
      answers.push({ sequence, mark, ...(await readPart(client, request)) })
    }
    return answers
  })

const READ_HEAD = statement({ text: `select ${HEAD}::float8 as head`, row: { head: float8 } })

async function readHead(client: Client): Promise<number> {
  const { rows } = await READ_HEAD.query(client, [])
  return rows[0]?.head ?? 0
}

/** A tree whose earlier pages were read at one sequence and which has not moved since is still at that sequence. */
async function sequencesOf(
  client: Client,
  requests: readonly SnapshotRequest[],
  head: number,
): Promise<ReadonlyMap<string, number>> {
  const earliest = new Map<string, number>()
  for (const request of requests) {
    if (request.part === 'head' || !request.after) continue
    earliest.set(request.rootId, Math.min(earliest.get(request.rootId) ?? head, request.after.sequence))
  }
  const sequences = new Map<string, number>()
  for (const [rootId, sequence] of earliest) {
    sequences.set(rootId, (await hasMoved(client, rootId, sequence)) ? head : sequence)
  }
  return sequences
}

const HAS_MOVED = statement({
  text: `select $2 < (select floor_seq from log_meta) or coalesce((
        select coalesce(b.first_seq + c.idx > $2, true) from phase_change c
        left join log_batch b on b.id = c.batch_id where c.root_id = $1 and c.revision is not null
        order by c.batch_id desc, c.idx desc limit 1
      ), false) as moved`,
  params: [uuid, bigint],
  row: { moved: boolean },
})

async function hasMoved(client: Client, rootId: string, since: number): Promise<boolean> {
  const { rows } = await HAS_MOVED.query(client, [rootId, since])
  return rows[0]?.moved ?? false
}

const NOTHING = { objects: [], relations: [] } as const

async function readPart(client: Client, request: SnapshotRequest): Promise<Pick<Snapshot, 'objects' | 'relations'>> {
  if (request.part === 'head') return NOTHING
  if (request.part === 'objects') return { ...NOTHING, objects: await readObjects(client, request) }
  return { ...NOTHING, relations: await readRelations(client, request) }
}

const READ_OBJECTS = statement({
  text: `select ${OBJECT_SELECTION} from object o where o.root_id = $1 and ($2::uuid is null or o.id > $2)
      order by o.id limit $3`,
  params: [uuid, nullable(uuid), bigint],
  row: table.object,
})

async function readObjects(client: Client, { rootId, after, limit }: ObjectsRequest): Promise<readonly ObjectRow[]> {
  const { rows } = await READ_OBJECTS.query(client, [rootId, after?.id ?? null, limit])
  return rows
}

// Parents first, then dependencies, each by the ids of both ends.
const RELATIONS = statement({
  text: `select * from (
    (select o.id as "from", o.parent_id as "to", 'PARENT' as kind from object o
      where o.root_id = $1 and o.parent_id is not null and $2::text is distinct from 'DEPENDS_ON'
        and $6::text is distinct from 'DEPENDS_ON' and ($2 is null or o.id > $3::uuid)
      order by o.id limit $5)
    union all
    (select e.from_id, e.to_id, 'DEPENDS_ON' from object o join edge e on e.from_id = o.id
      where o.root_id = $1 and $6 is distinct from 'PARENT'
        and ($2::text is distinct from 'DEPENDS_ON' or (e.from_id, e.to_id) > ($3::uuid, $4::uuid))
      order by e.from_id, e.to_id limit $5)
  ) r order by kind desc, "from", "to" limit $5`,
  params: [uuid, nullable(text), nullable(uuid), nullable(uuid), bigint, nullable(text)],
  row: { from: uuid, to: uuid, kind: textOf<'PARENT' | 'DEPENDS_ON'>() },
})

async function readRelations(
  client: Client,
  { rootId, kind, after, limit }: RelationsRequest,
): Promise<readonly RelationRow[]> {
  const { rows } = await RELATIONS.query(client, [
    rootId,
    after?.kind ?? null,
    after?.from ?? null,
    after?.to ?? null,
    limit,
    kind,
  ])
  return rows
}

export interface TreeCounts {
  readonly objects: number
  readonly parents: number
  readonly dependencies: number
}

const COUNT_TREE = statement({
  text: `select count(*)::int as objects, count(o.parent_id)::int as parents,
        (select count(*) from object f join edge e on e.from_id = f.id where f.root_id = $1)::int as dependencies
      from object o where o.root_id = $1`,
  params: [uuid],
  row: { objects: integer, parents: integer, dependencies: integer },
})

export async function countTree(client: Client, rootId: string): Promise<TreeCounts> {
  const { rows } = await COUNT_TREE.query(client, [rootId])
  return rows[0] ?? { objects: 0, parents: 0, dependencies: 0 }
}
