import type { ClaimedItem } from '../../../core/ports/agents.ts'
import type { Client } from '../../../store/client.ts'
import { array, json, uuid } from '../../../store/column-types.ts'
import type { Sealing } from '../../../store/sealing.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { WorkloadSpec } from '../rules/spec.ts'
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
}

/** One payload for each item, in order; null: the stored config is the payload. */
export async function claimPayloads(
  { client, sealing, tokens }: ClaimPayloadParts,
  items: readonly ClaimedItem[],
): Promise<readonly (ClaimPayload | null)[]> {
  const starts = items.filter(isStart).map(({ objectId }) => objectId)
  if (starts.length === 0) return items.map(() => null)
  const [workloads, events, sealed] = await Promise.all([
    readWorkloads(client, starts),
    readEvents(client, starts),
    readSecrets(client, starts),
  ])
  const secrets = openEach(sealing, events, sealed)
  return items.map((item) => {
    if (!isStart(item)) return null
    const workload = workloads.get(item.objectId)
    const event = workload && events.get(workload.eventId)
    const opened = workload && secrets.get(workload.eventId)
    if (!workload || !event || !opened) return UNREADABLE
    const token = item.kind === 'WORKER' ? tokens.tokenOf(item.objectId) : null
    return { config: startConfigOf(workload, event, opened), token, secretNames: Object.keys(opened) }
  })
}

const isStart = ({ action, kind }: ClaimedItem): boolean => action === 'START' && (kind === 'WORKER' || kind === 'JOB')

function startConfigOf(
  { spec, eventId, workerId }: WorkloadRow,
  { projectId: _, ...event }: EventRow,
  secrets: Readonly<Record<string, string>>,
): StartConfig {
  const { image, command, args, env, files, workspace } = spec
  return {
    eventId,
    workerId,
    project: event.project,
    image,
    command,
    args,
    env,
    files,
    secrets,
    event,
    workspace: workspace ? workerId : null,
  }
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
}
const READ_WORKLOADS = statement({
  name: 'read-claimed-workloads',
  text: `select o.id, o.root_id as "eventId", case o.kind when 'WORKER' then o.id else o.parent_id end as "workerId",
        s.spec from object o join object_spec s on s.object_id = o.id where o.id = any($1::uuid[])`,
  params: [array(uuid)],
  row: { id: table.object.id, eventId: table.object.rootId, workerId: uuid, spec: json<WorkloadSpec>() },
})

async function readWorkloads(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, WorkloadRow>> {
  const { rows } = await READ_WORKLOADS.query(client, [ids])
  return new Map(rows.map((row) => [row.id, row]))
}

interface EventRow extends StartedEvent {
  readonly projectId: string
}
const EVENTS = 'select root_id from object where id = any($1::uuid[])'
const READ_EVENTS = statement({
  name: 'read-claimed-events',
  text: `select r.id, r.name, p.name as project, e.source, e.type, e.qualifiers, s.labels, e.payload,
        r.project_id as "projectId"
      from object r join event e on e.object_id = r.id join object_spec s on s.object_id = r.id
      join project p on p.id = r.project_id where r.id in (${EVENTS})`,
  params: [array(uuid)],
  row: {
    id: table.object.id,
    name: table.object.name,
    project: table.project.name,
    source: table.event.source,
    type: table.event.type,
    qualifiers: json<Readonly<Record<string, string>>>(),
    labels: json<Readonly<Record<string, string>>>(),
    payload: table.event.payload,
    projectId: table.object.projectId,
  },
})

async function readEvents(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, EventRow>> {
  const { rows } = await READ_EVENTS.query(client, [ids])
  return new Map(rows.map((row) => [row.id, row]))
}

interface SealedRow {
  readonly eventId: string
  readonly name: string
  readonly sealed: Buffer
}
const READ_SECRETS = statement({
  name: 'read-claimed-secrets',
  text: `select event_id as "eventId", name, sealed from event_secret where event_id in (${EVENTS})`,
  params: [array(uuid)],
  row: { eventId: table.eventSecret.eventId, name: table.eventSecret.name, sealed: table.eventSecret.sealed },
})

async function readSecrets(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, readonly SealedRow[]>> {
  const { rows } = await READ_SECRETS.query(client, [ids])
  return Map.groupBy(rows, ({ eventId }) => eventId)
}
