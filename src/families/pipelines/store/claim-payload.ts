import { hasExpressions } from '../../../core/expression.ts'
import type { ClaimedItem } from '../../../core/ports/agents.ts'
import type { Artifact } from '../../../core/ports/artifacts.ts'
import type { System } from '../../../core/ports/system.ts'
import type { ArtifactSpec, CloneSpec, ServiceSpec, TakeSpec, WorkloadSpec } from '../../../projects/rules/spec.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import { restoreCache } from '../../../store/artifacts.ts'
import type { Client } from '../../../store/client.ts'
import { array, integer, joinedAll, json, nullable, uuid } from '../../../store/column-types.ts'
import type { Sealing } from '../../../store/sealing.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { Answer } from '../../family.ts'
import { findTaken } from '../artifacts/store/artifact-queries.ts'
import type { WorkerTokens } from './worker-tokens.ts'

/**
 * The payload of a claimed START: how to start the workload, with all secrets of its event in clear. It is built when the
 * work is claimed, never stored and never logged.
 */
export interface StartConfig {
  readonly eventId: string
  readonly workerId: string
  readonly project: string
  readonly image: string | null
  /** The process is `[...command, ...args]`. */
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly files: WorkloadSpec['files']
  readonly secrets: Readonly<Record<string, string>>
  readonly event: StartedEvent
  /** The worker whose workspace it uses; null: it has a folder of its own. */
  readonly workspace: string | null
  /** Null: there is no repository to clone. */
  readonly clone: StartedClone | null
  /** Absent: it leaves none. */
  readonly artifacts?: readonly LeftArtifact[]
  /** Absent: it takes none. */
  readonly takes?: readonly TakenArtifact[]
  /** Absent: nothing runs beside it. */
  readonly services?: readonly ServiceSpec[]
}
export interface LeftArtifact extends ArtifactSpec {
  /** Its name is a key of the project's cache. Absent: it is an artifact. */
  readonly cache?: true
}
export interface TakenArtifact extends TakeSpec {
  /** Null: there is none. */
  readonly found: { readonly id: string; readonly isFolder: boolean; readonly size: number } | null
}
interface StartedClone extends Omit<CloneSpec, 'secret'> {
  /** A token, or `user:password`; null: the repository needs none. */
  readonly credentials: string | null
  /** Why it cannot be cloned; null: nothing is known. */
  readonly problem: string | null
}
interface StartedEvent {
  readonly id: string
  readonly name: string
  readonly project: string
  readonly source: string
  readonly type: string
  readonly qualifiers: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly payload: string | null
}

export interface ClaimPayload {
  /** Null: the workload is gone, or its secrets cannot be opened. */
  readonly config: StartConfig | null
  /** Token with which a worker creates and cancels jobs. */
  readonly token: string | null
  /** Names of the secrets in the config. */
  readonly secretNames?: readonly string[]
}
const UNREADABLE: ClaimPayload = { config: null, token: null }

export interface ClaimPayloadParts {
  readonly client: Client
  readonly sealing: Pick<Sealing, 'open'>
  readonly tokens: Pick<WorkerTokens, 'tokenOf'>
  readonly system: Pick<System, 'now'>
  readonly sandbox: Pick<Sandbox, 'resolve'>
}

/** One payload for each item, in order; null: the stored config is the payload. */
export async function claimPayloads(
  { client, sealing, tokens, system, sandbox }: ClaimPayloadParts,
  items: readonly ClaimedItem[],
): Promise<readonly (ClaimPayload | null)[]> {
  const starts = items.filter(isStart).map(({ objectId }) => objectId)
  if (starts.length === 0) return items.map(() => null)
  const { workloads, events, sealed } = await readClaimed(client, starts)
  const secrets = openEach(sealing, events, sealed)
  const moved = await moveEach(client, [...workloads.values()], { events, now: system.now() })
  const refs = await resolveRefs(sandbox, workloads, events)
  return items.map((item) => {
    if (!isStart(item)) return null
    const workload = workloads.get(item.objectId)
    const event = workload && events.get(workload.eventId)
    const opened = workload && secrets.get(workload.eventId)
    if (!workload || !event || !opened) return UNREADABLE
    const token = item.kind === 'WORKER' ? tokens.tokenOf(item.objectId, workload.attempt) : null
    const config = startConfigOf(workload, event, { secrets: opened, ref: refs.get(workload.id) })
    return { config: { ...config, ...moved.get(item.objectId) }, token, secretNames: Object.keys(opened) }
  })
}

const isStart = ({ action, kind }: ClaimedItem): boolean => action === 'START' && (kind === 'WORKER' || kind === 'JOB')

function startConfigOf(
  { spec, eventId, workerId }: WorkloadRow,
  { projectId: _, ...event }: EventRow,
  { secrets, ref }: { readonly secrets: Readonly<Record<string, string>>; readonly ref: ResolvedRef | undefined },
): StartConfig {
  const { image, command, args, env, files, workspace, clone, services } = spec
  // The runtime alone gets the credentials of the repository.
  const { [clone?.secret ?? '']: credentials = null, ...own } = secrets
  return {
    eventId,
    workerId,
    project: event.project,
    image,
    command,
    args,
    env,
    files,
    secrets: own,
    event,
    workspace: workspace ? workerId : null,
    clone: clone ? startedClone(clone, credentials, ref) : null,
    ...(services && { services }),
  }
}

function startedClone(
  { secret, ...clone }: CloneSpec,
  credentials: string | null,
  resolved: ResolvedRef = { ref: clone.ref, problem: null },
): StartedClone {
  const missing = secret !== null && credentials === null ? `The project has no secret ${secret}.` : null
  return { ...clone, credentials, ...resolved, problem: missing ?? resolved.problem }
}

interface ResolvedRef {
  readonly ref: string | null
  readonly problem: string | null
}
/** The refs that are expressions over the event, by workload. */
async function resolveRefs(
  sandbox: Pick<Sandbox, 'resolve'>,
  workloads: ReadonlyMap<string, WorkloadRow>,
  events: ReadonlyMap<string, EventRow>,
): Promise<ReadonlyMap<string, ResolvedRef>> {
  const resolving = [...workloads.values()].map(async ({ id, eventId, spec }) => {
    const ref = spec.clone?.ref
    const event = events.get(eventId)
    if (!ref || !event || !hasExpressions(ref)) return []
    return [[id, await resolveRef(sandbox, ref, event)] as const]
  })
  return new Map((await Promise.all(resolving)).flat())
}

async function resolveRef(
  sandbox: Pick<Sandbox, 'resolve'>,
  ref: string,
  { projectId, payload, ...facts }: EventRow,
): Promise<ResolvedRef> {
  const scope = { event: scopeOf({ ...facts, payload }) }
  const [found] = await sandbox.resolve([{ template: ref, scope }], projectId).catch(failed)
  if (found?.ok && typeof found.value === 'string') return { ref: found.value, problem: null }
  const problem = found?.ok ? 'it is no text' : (found?.message ?? 'it was not evaluated')
  return { ref: null, problem: `Its ref ${ref} has no value: ${problem}.` }
}
/** A project whose expressions take long loses this workload, and keeps no other from its payload. */
const failed = (error: unknown) => [
  { ok: false, message: error instanceof Error ? error.message : String(error) } as const,
]

/** An event as expressions see it. */
const scopeOf = ({ payload, ...facts }: StartedEvent): object => ({ ...facts, payload: jsonOf(payload) })

/** The payload as expressions see it: what its JSON says, else its text. */
function jsonOf(payload: string | null): unknown {
  try {
    return payload === null ? null : JSON.parse(payload)
  } catch {
    return payload
  }
}

type Moved = Pick<StartConfig, 'artifacts' | 'takes'>

/** The artifacts and caches of each workload. Few have any, so each has queries of its own. */
async function moveEach(
  client: Client,
  workloads: readonly WorkloadRow[],
  { events, now }: { readonly events: ReadonlyMap<string, EventRow>; readonly now: Date },
): Promise<ReadonlyMap<string, Moved>> {
  const moved = workloads.map(async ({ id, eventId, spec: { artifacts = [], takes = [], caches = [] } }) => {
    const event = events.get(eventId)
    const restored = await Promise.all(
      (event ? caches : []).map(async (cache) => ({
        cache,
        found: await restoreCache(client, { ...cache, projectId: event?.projectId ?? '', now }),
      })),
    )
    const left: readonly LeftArtifact[] = [
      ...artifacts,
      ...restored
        .filter(({ cache, found }) => found?.name !== cache.key)
        .map(
          ({ cache: { key, path } }) => ({ name: key, path, when: 'SUCCESS', optional: true, cache: true }) as const,
        ),
    ]
    const taken: readonly TakenArtifact[] = [
      ...(await takenBy(client, { eventId, takes, now })),
      ...restored.flatMap(({ cache: { key, path }, found }) =>
        found ? [{ artifact: key, from: null, path, found: contentOf(found) }] : [],
      ),
    ]
    return [id, { ...(left.length > 0 && { artifacts: left }), ...(taken.length > 0 && { takes: taken }) }] as const
  })
  return new Map(await Promise.all(moved))
}

const contentOf = ({ id, isFolder, size }: Artifact) => ({ id, isFolder, size })

async function takenBy(
  client: Client,
  { eventId, takes, now }: { readonly eventId: string; readonly takes: readonly TakeSpec[]; readonly now: Date },
): Promise<readonly TakenArtifact[]> {
  if (takes.length === 0) return []
  const names = [...new Set(takes.map(({ artifact }) => artifact))]
  const left = await findTaken(client, eventId, names, now)
  return takes.map((take) => {
    const one = left.find(({ name, job }) => name === take.artifact && (take.from === null || take.from === job))
    return { ...take, found: one ? contentOf(one) : null }
  })
}

/** Opens each event's secrets once for all its workloads; null: one of them does not open. */
function openEach(
  sealing: Pick<Sealing, 'open'>,
  events: ReadonlyMap<string, EventRow>,
  sealed: ReadonlyMap<string, readonly SealedRow[]>,
): ReadonlyMap<string, Readonly<Record<string, string>> | null> {
  return new Map(
    [...events].map(([id, { projectId }]) => {
      const opened = (sealed.get(id) ?? []).map(
        (row) => [row.name, sealing.open({ projectId, name: row.name }, row.sealed)] as const,
      )
      return [id, opened.every(isOpen) ? Object.fromEntries(opened) : null]
    }),
  )
}
const isOpen = (entry: readonly [string, string | null]): entry is readonly [string, string] => entry[1] !== null

interface WorkloadRow {
  readonly id: string
  readonly eventId: string
  /** Its own event, or that of its worker. */
  readonly workerId: string
  readonly spec: WorkloadSpec
  /** Attempts that have ended. */
  readonly attempt: number
}
interface EventRow extends StartedEvent {
  readonly projectId: string
}
interface SealedRow {
  readonly name: string
  readonly sealed: Buffer
}

const EVENT = 'r.name, p.name as project, v.source, v.type, v.qualifiers, l.labels, v.payload'
const FROM_EVENT = `object r join event v on v.object_id = r.id join object_spec l on l.object_id = r.id
        join project p on p.id = r.project_id`
const EVENT_COLUMNS = {
  project: table.project.name,
  source: table.event.source,
  type: table.event.type,
  qualifiers: json<Readonly<Record<string, string>>>(),
  labels: json<Readonly<Record<string, string>>>(),
  payload: table.event.payload,
}

/** The first workload of each event has the event beside it, since a payload may be large. */
const READ_CLAIMED = statement({
  name: 'read-claimed-workloads',
  text: `select o.id, o.root_id as "eventId", case o.kind when 'WORKER' then o.id else o.parent_id end as "workerId",
        s.spec, coalesce(jsonb_array_length(w.retry -> 'attempts'), 0) as attempt, e.*
      from (
        select id, root_id, parent_id, kind, row_number() over (partition by root_id order by id) = 1 as is_first
        from object where id = any($1::uuid[])
      ) o
      join object_spec s on s.object_id = o.id join workload w on w.object_id = o.id
      left join lateral (
        select ${EVENT}, r.project_id as "projectId", c.names, c.sealed from ${FROM_EVENT}
        cross join lateral (
          select array_agg(name order by name) as names, array_agg(sealed order by name) as sealed from event_secret where event_id = r.id
        ) c
        where o.is_first and r.id = o.root_id offset 0
      ) e on true`,
  params: [array(uuid)],
  row: {
    id: table.object.id,
    eventId: table.object.rootId,
    workerId: uuid,
    spec: json<WorkloadSpec>(),
    attempt: integer,
    name: nullable(table.object.name),
    ...joinedAll({ ...EVENT_COLUMNS, projectId: table.object.projectId }),
    names: nullable(array(table.eventSecret.name)),
    sealed: nullable(array(table.eventSecret.sealed)),
  },
})

interface Claimed {
  readonly workloads: ReadonlyMap<string, WorkloadRow>
  /** By id, as their sealed secrets. */
  readonly events: ReadonlyMap<string, EventRow>
  readonly sealed: ReadonlyMap<string, readonly SealedRow[]>
}

async function readClaimed(client: Client, ids: readonly string[]): Promise<Claimed> {
  const { rows } = await READ_CLAIMED.query(client, [ids])
  const workloads = new Map<string, WorkloadRow>()
  const events = new Map<string, EventRow>()
  const sealed = new Map<string, readonly SealedRow[]>()
  for (const { id, eventId, workerId, spec, attempt, name, names, sealed: secrets, ...event } of rows) {
    workloads.set(id, { id, eventId, workerId, spec, attempt })
    if (name === null) continue
    events.set(eventId, { id: eventId, name, ...event })
    sealed.set(
      eventId,
      (names ?? []).map((of, i) => ({ name: of, sealed: secrets?.[i] as Buffer })),
    )
  }
  return { workloads, events, sealed }
}

const READ_EVENTS = statement({
  name: 'read-events-of-keys',
  text: `select r.id, ${EVENT} from ${FROM_EVENT} where r.id = any($1::uuid[])`,
  params: [array(uuid)],
  row: { id: table.object.id, name: table.object.name, ...EVENT_COLUMNS },
})

/** For keys of limits. */
export const findEventScopes: Answer<'eventScope'> = async (client, _root, ids) => {
  const { rows } = await READ_EVENTS.query(client, [ids])
  return ids.map((id) => {
    const event = rows.find((row) => row.id === id)
    return event ? scopeOf(event) : null
  })
}
