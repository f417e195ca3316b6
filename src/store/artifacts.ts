import { createHash } from 'node:crypto'
import { DatabaseError, type Pool } from 'pg'
import { ARTIFACT_NAME_RULE, isArtifactName, MAX_ARTIFACT_BYTES } from '../core/artifact.ts'
import { canRead } from '../core/can-read.ts'
import type { Artifact, ArtifactPort, ArtifactRefusal, Upload } from '../core/ports/artifacts.ts'
import type { System } from '../core/ports/system.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { hasRight, RIGHTS } from '../core/rights.ts'
import type { Client } from './client.ts'
import {
  array,
  bigint,
  boolean,
  bytea,
  integer,
  nothing,
  nullable,
  required,
  text,
  timestamptz,
  uuid,
} from './column-types.ts'
import { type OpenedFence, openFence } from './fence.ts'
import { inTransaction } from './in-transaction.ts'
import { isUuid } from './objects.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { IS_CLAIMED } from './work-states.ts'

/** Artifacts in the database: a row for each, and its content in pieces. */

export interface ArtifactSettings {
  /** How long they are kept; null: as long as their event. */
  readonly retentionMs: number | null
  /** Bytes of all artifacts of a project, and of its whole cache. */
  readonly quotaBytes: number
  readonly cacheBytes: number
}
export interface ArtifactParts extends ArtifactSettings {
  readonly pool: Pool
  readonly system: Pick<System, 'now' | 'id'>
}

/** Bytes of a piece: one of each upload and download is in memory. */
const CHUNK = 256 * 1_024

const ROW = {
  id: table.artifact.id,
  objectId: table.artifact.objectId,
  eventId: table.artifact.eventId,
  projectId: table.artifact.projectId,
  name: table.artifact.name,
  isFolder: table.artifact.isFolder,
  size: table.artifact.size,
  sha256: required(table.artifact.sha256),
  createdAt: table.artifact.createdAt,
  expiresAt: table.artifact.expiresAt,
}
export const ARTIFACT_ROW = ROW
export const ARTIFACT_COLUMNS = `a.id, a.object_id as "objectId", a.event_id as "eventId", a.project_id as "projectId", a.name,
  a.is_folder as "isFolder", a.size, a.sha256, a.created_at as "createdAt", a.expires_at as "expiresAt"`
/** Others are as good as gone. @param now the parameter with the time */
export const isVisibleArtifact = (now: string): string =>
  `a.completed_at is not null and a.object_id is not null and (a.expires_at is null or a.expires_at > ${now})`

/** Entries of caches. */
export const isVisibleCache = (now: string): string =>
  `a.completed_at is not null and a.used_at is not null and (a.expires_at is null or a.expires_at > ${now})`

/** The work that the agent has claimed, with the artifact that its spec declares. */
const CLAIMED = `from work w join object o on o.id = w.object_id
  where w.object_id = $1 and w.fence_hash = $2 and w.principal_id = $3 and w.action = 'START' and w.${IS_CLAIMED}`

const FIND_CLAIMED = statement({
  name: 'find-claimed-workload',
  text: `select o.root_id as "eventId", o.project_id as "projectId", exists (
      select from object_spec s, jsonb_array_elements(s.spec -> case when $5 then 'caches' else 'artifacts' end) a
      where s.object_id = o.id and a ->> case when $5 then 'key' else 'name' end = $4
    ) as "isDeclared", (
      select coalesce(sum(a.size), 0)::bigint from artifact a where a.project_id = o.project_id and a.object_id is not null
    ) as used ${CLAIMED}`,
  params: [uuid, bytea, uuid, text, boolean],
  row: { eventId: table.object.rootId, projectId: table.object.projectId, isDeclared: boolean, used: bigint },
})

const FIND_NAMED = statement({
  name: 'find-named-artifact',
  text: `select ${ARTIFACT_COLUMNS} from artifact a
    where a.object_id = $1 and a.name = $2 and a.completed_at is not null`,
  params: [uuid, text],
  row: ROW,
})

const FIND_CACHED = statement({
  name: 'find-cached-artifact',
  text: `select ${ARTIFACT_COLUMNS} from artifact a
    where a.project_id = $1 and a.name = $2 and ${isVisibleCache('$3')} order by a.id desc limit 1`,
  params: [uuid, text, timestamptz],
  row: ROW,
})

const BEGIN = statement({
  name: 'begin-artifact',
  text: `insert into artifact (id, object_id, event_id, project_id, name, is_folder, created_at, used_at)
    select $1, case when not $6 then o.id end, o.root_id, o.project_id, $3, $4, $5, case when $6 then $5::timestamptz end
    from object o where o.id = $2`,
  params: [uuid, uuid, text, boolean, timestamptz, boolean],
})

const ADD_CHUNK = statement({
  name: 'add-artifact-chunk',
  text: `insert into artifact_chunk (artifact_id, ordinal, content) values ($1, $2, $3)`,
  params: [uuid, integer, bytea],
})

// Uploads of a project end one after the other, so that two of them never exceed its quota together.
const LOCK_QUOTA = statement({
  text: `select pg_advisory_xact_lock(hashtextextended('artifacts ' || $1, 0)) as locked`,
  params: [text],
  row: { locked: nothing },
})

const COMPLETE = statement({
  name: 'complete-artifact',
  text: `update artifact a set completed_at = $5, expires_at = $6, size = $7, sha256 = $8
    where a.id = $4 and a.object_id is not null and exists (select ${CLAIMED})
      and $7 <= $9 - (select coalesce(sum(b.size), 0)::bigint from artifact b where b.project_id = a.project_id and b.object_id is not null)
    returning ${ARTIFACT_COLUMNS}`,
  params: [uuid, bytea, uuid, uuid, timestamptz, nullable(timestamptz), bigint, bytea, bigint],
  row: ROW,
})

const COMPLETE_CACHE = statement({
  name: 'complete-cache',
  text: `update artifact a set completed_at = $5, used_at = $5, expires_at = $6, size = $7, sha256 = $8
    where a.id = $4 and $7::bigint <= $9::bigint and exists (select ${CLAIMED}) and not exists (
      select from artifact b where b.project_id = a.project_id and b.name = a.name and b.used_at is not null and b.completed_at is not null
        and (b.expires_at is null or b.expires_at > $5)
    ) returning ${ARTIFACT_COLUMNS}`,
  params: [uuid, bytea, uuid, uuid, timestamptz, nullable(timestamptz), bigint, bytea, bigint],
  row: ROW,
})

/** Makes room in the cache of a project: entries that nobody has used for longest go first. */
const EVICT = statement({
  name: 'evict-caches',
  text: `delete from artifact where id in (select id from (
      select id, sum(size) over (order by used_at desc, id desc) as total from artifact
      where project_id = $1 and used_at is not null and completed_at is not null
    ) newest_first where total > $2::bigint)`,
  params: [uuid, bigint],
})

const DISCARD = statement({
  name: 'discard-artifact',
  text: 'delete from artifact where id = $1 and completed_at is null',
  params: [uuid],
})

const FIND = statement({
  name: 'find-artifact',
  text: `select ${ARTIFACT_COLUMNS} from artifact a
    where a.id = $1 and (${isVisibleArtifact('$2')} or ${isVisibleCache('$2')})`,
  params: [uuid, timestamptz],
  row: ROW,
})

const READ_CHUNK = statement({
  name: 'read-artifact-chunk',
  text: 'select content from artifact_chunk where artifact_id = $1 and ordinal = $2',
  params: [uuid, integer],
  row: { content: table.artifactChunk.content },
})

const inMib = (bytes: number): string => `${Math.round(bytes / 1_024 / 1_024)} MiB`

const refused = (code: ArtifactRefusal['code'], message: string) => ({ refused: { code, message } }) as const
const STALE = refused(
  'STALE_REPORT',
  'The workload has ended, or another agent has it: its artifacts are no longer taken.',
)
const TOO_LARGE = refused(
  'TOO_LARGE',
  `An artifact has at most ${inMib(MAX_ARTIFACT_BYTES)}: leave less, or keep it in a store of your own.`,
)

export function createArtifacts(parts: ArtifactParts): ArtifactPort {
  const { pool, system } = parts
  const counts = { written: 0, writtenBytes: 0, read: 0, readBytes: 0 }
  return {
    counts,
    async write(viewer, upload) {
      const done = await write(parts, viewer, upload)
      if ('artifact' in done) {
        counts.written += 1
        counts.writtenBytes += done.artifact.size
      }
      return done
    },
    async find(viewer, id) {
      if (!isUuid(id) || !hasRight(viewer, RIGHTS.readObjects)) return null
      const { rows } = await FIND.query(pool, [id, system.now()])
      const [found] = rows
      if (!found || !canRead(viewer, { projectId: found.projectId, rootId: found.eventId })) return null
      return hasRight(viewer, RIGHTS.readObjects, found.projectId) ? found : null
    },
    async *read(id) {
      counts.read += 1
      for (let ordinal = 0; ; ordinal += 1) {
        const { rows } = await READ_CHUNK.query(pool, [id, ordinal])
        const [row] = rows
        if (!row) return
        counts.readBytes += row.content.length
        yield row.content
      }
    },
  }
}

async function write(parts: ArtifactParts, viewer: Viewer, upload: Upload): ReturnType<ArtifactPort['write']> {
  const { pool, system, quotaBytes } = parts
  const { objectId, name, isFolder, isCache } = upload
  const fence = openFence(upload.fence)
  if (!isCache && !isArtifactName(name))
    return refused('BAD_USER_INPUT', `The name of an artifact ${ARTIFACT_NAME_RULE}.`)
  if (!fence || fence.objectId !== objectId) return STALE
  const [claimed] = (await FIND_CLAIMED.query(pool, [objectId, fence.hash, viewer.principalId, name, isCache])).rows
  if (!claimed) return STALE
  if (!claimed.isDeclared)
    return refused('BAD_USER_INPUT', `Its spec has no ${isCache ? 'cache' : 'artifact'} of this name.`)
  const { projectId } = claimed
  const earlier = await findEarlier(pool, { ...upload, projectId }, system.now())
  if (earlier) return { artifact: earlier }
  if (!isCache && claimed.used >= quotaBytes) return overQuota(parts, isCache)
  const id = system.id()
  let isComplete = false
  try {
    await BEGIN.query(pool, [id, objectId, name, isFolder, system.now(), isCache])
    const written = await writeChunks(pool, id, upload.bytes)
    if (!written) return TOO_LARGE
    const done = await complete(parts, { ...upload, projectId, viewer, opened: fence, id, ...written })
    isComplete = 'artifact' in done && done.artifact.id === id
    return done
  } finally {
    // The sweep removes the pieces of a process that is killed.
    if (!isComplete) await DISCARD.query(pool, [id]).catch(() => {})
  }
}

const overQuota = ({ quotaBytes, cacheBytes }: ArtifactParts, isCache: boolean) =>
  isCache
    ? refused(
        'LIMIT',
        `It is larger than the cache of a project, which has ${inMib(cacheBytes)} (PHASELINE_CACHE_QUOTA_MIB).`,
      )
    : refused(
        'LIMIT',
        `The artifacts of its project would have more than ${inMib(quotaBytes)}: delete events, or let the operator raise PHASELINE_ARTIFACT_QUOTA_MIB.`,
      )

interface Named extends Pick<Upload, 'objectId' | 'name' | 'isCache'> {
  readonly projectId: string
}
/** The one that has the name already, and keeps it. */
async function findEarlier(
  client: Client,
  { projectId, objectId, name, isCache }: Named,
  now: Date,
): Promise<Artifact | null> {
  const { rows } = await (isCache
    ? FIND_CACHED.query(client, [projectId, name, now])
    : FIND_NAMED.query(client, [objectId, name]))
  return rows[0] ?? null
}

interface Written {
  readonly size: number
  readonly sha256: Buffer
}

/** Null: it is too large. The bytes come as fast as they are written. */
async function writeChunks(client: Client, id: string, bytes: AsyncIterable<Buffer>): Promise<Written | null> {
  const digest = createHash('sha256')
  let [size, ordinal, pending, pieces] = [0, 0, 0, [] as Buffer[]]
  const flush = async (): Promise<void> => {
    const content = Buffer.concat(pieces, pending)
    ;[pieces, pending] = [[], 0]
    await ADD_CHUNK.query(client, [id, ordinal, content])
    ordinal += 1
  }
  for await (const piece of bytes) {
    size += piece.length
    if (size > MAX_ARTIFACT_BYTES) return null
    digest.update(piece)
    pieces.push(piece)
    pending += piece.length
    if (pending >= CHUNK) await flush()
  }
  if (pending > 0) await flush()
  return { size, sha256: digest.digest() }
}

interface Completing extends Written, Named {
  readonly viewer: Viewer
  readonly opened: OpenedFence
  readonly id: string
}

const UNIQUE_VIOLATION = '23505'

async function complete(parts: ArtifactParts, completing: Completing): ReturnType<ArtifactPort['write']> {
  const { pool, system, retentionMs, quotaBytes, cacheBytes } = parts
  const { viewer, opened, id, name, projectId, isCache, size, sha256 } = completing
  const now = system.now()
  const expiresAt = retentionMs === null ? null : new Date(now.getTime() + retentionMs)
  const held = [opened.objectId, opened.hash, viewer.principalId] as const
  try {
    const [artifact] = await inTransaction(pool, async (client) => {
      await LOCK_QUOTA.query(client, [projectId])
      const written = [...held, id, now, expiresAt, size, sha256] as const
      if (!isCache) return (await COMPLETE.query(client, [...written, quotaBytes])).rows
      const { rows } = await COMPLETE_CACHE.query(client, [...written, cacheBytes])
      await EVICT.query(client, [projectId, cacheBytes])
      return rows
    })
    if (artifact) return { artifact }
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
  }
  // Another upload was faster.
  const earlier = await findEarlier(pool, completing, now)
  if (earlier) return { artifact: earlier }
  const [claimed] = (await FIND_CLAIMED.query(pool, [...held, name, isCache])).rows
  return claimed ? overQuota(parts, isCache) : STALE
}

const isUniqueViolation = (error: unknown): boolean => error instanceof DatabaseError && error.code === UNIQUE_VIOLATION

/** Bytes that one step removes, at least one artifact: some dozen pieces take milliseconds. */
const STEP_BYTES = 16 * 1_024 * 1_024
const STEP = 100
/** An upload takes no longer, or its connection is closed. */
const INCOMPLETE_MS = 3 * 3_600_000

const SWEEP = statement({
  name: 'sweep-artifacts',
  text: `with old as materialized (
      (select id, size from artifact where completed_at is not null and expires_at <= $1 order by expires_at limit ${STEP})
      union
      (select id, size from artifact where (completed_at is null or object_id is null)
        and (object_id is null and used_at is null or completed_at is null and created_at < $2) order by created_at limit ${STEP})
      union
      (select id, size from artifact a where used_at is not null
        and not exists (select from project p where p.id = a.project_id) limit ${STEP})
    ), sized as materialized (
      -- One that was never completed has pieces, but no size.
      select id, case when size > 0 then size
        else coalesce((select max(c.ordinal) + 1 from artifact_chunk c where c.artifact_id = old.id), 0)::bigint * ${CHUNK} end as bytes from old
    ), step as materialized (
      select id from (select id, sum(bytes) over (order by id) - bytes as before from sized) o where before < ${STEP_BYTES}
    )
    delete from artifact where id in (select id from step)`,
  params: [timestamptz, timestamptz],
})

/** Removes some artifacts that have expired, whose event is gone, or that were never completed. False: there are none. */
export async function sweepArtifacts(client: Client, now: Date): Promise<boolean> {
  const { rowCount } = await SWEEP.query(client, [now, new Date(now.getTime() - INCOMPLETE_MS)])
  return (rowCount ?? 0) > 0
}

const RESTORE = statement({
  name: 'restore-cache',
  text: `update artifact a set used_at = $4, expires_at = a.expires_at + ($4 - a.used_at) where a.id = (
      select a.id from artifact a where a.project_id = $1 and ${isVisibleCache('$4')}
        and (a.name = $2 or exists (select from unnest($3::text[]) prefix where starts_with(a.name, prefix)))
      order by a.name = $2 desc,
        (select max(length(prefix)) from unnest($3) prefix where starts_with(a.name, prefix)) desc nulls last, a.id desc
      limit 1
    ) returning ${ARTIFACT_COLUMNS}`,
  params: [uuid, text, array(text), timestamptz],
  row: ROW,
})

/** The entry with this key or, without one, the newest with the longest of these prefixes. It counts as used now. */
export async function restoreCache(
  client: Client,
  {
    projectId,
    key,
    restoreKeys,
    now,
  }: {
    readonly projectId: string
    readonly key: string
    readonly restoreKeys: readonly string[]
    readonly now: Date
  },
): Promise<Artifact | null> {
  const { rows } = await RESTORE.query(client, [projectId, key, restoreKeys, now])
  return rows[0] ?? null
}

const REMOVE_CACHE = statement({
  text: 'delete from artifact where project_id = $1 and name = $2 and used_at is not null and completed_at is not null',
  params: [uuid, text],
})

/** False: there is no entry with this key. */
export async function removeCache(client: Client, projectId: string, key: string): Promise<boolean> {
  const { rowCount } = await REMOVE_CACHE.query(client, [projectId, key])
  return (rowCount ?? 0) > 0
}
