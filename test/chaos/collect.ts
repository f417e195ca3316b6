import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSealing } from '../../src/store/sealing.ts'
import { instancesIn } from '../agents/edge-folders.ts'
import { SECRET_KEY } from '../testkit/server.ts'
import {
  columnsOf,
  type Evidence,
  type FlowChange,
  type GadgetLine,
  type LoggedChange,
  type Tables,
  WATCHED,
  type WatchedTable,
  type WorkerStart,
  type WorkSpan,
} from './evidence.ts'
import { type ChaosPlace, MAX_WORKERS, type Query } from './place.ts'
import { FLOW } from './record-flow.ts'

/** Evidence that is noted during the run. */
export type Noted = Pick<
  Evidence,
  'mutations' | 'probes' | 'deliveries' | 'messages' | 'answered' | 'readers' | 'faults' | 'deaths'
>

/** Reads all evidence of a run that is at rest, without asking the servers. */
export async function collect(place: ChaosPlace, noted: Noted): Promise<Evidence> {
  const { folder } = place
  const namesIn = (path: string): Promise<readonly string[]> => readdir(join(folder, path)).catch(() => [])
  const { log, flow, tables, secrets, copies, recorded, databaseNow } = await place.read(readDatabase)
  const sealing = createSealing([Buffer.from(SECRET_KEY, 'base64')], { secret: () => Buffer.alloc(0) })
  return {
    ...noted,
    log,
    flow,
    tables,
    secrets: secrets.map(({ sealed, ...secret }) => ({ name: secret.name, value: sealing.open(secret, sealed) })),
    copies: copies.map(({ eventId, sealed, ...secret }) => ({ eventId, value: sealing.open(secret, sealed) })),
    databaseNow,
    spans: spansOf(await linesOf(join(folder, 'spans'))),
    gadgets: (await linesOf(join(folder, 'said'))).map(gadgetLine),
    starts: (await linesOf(join(folder, 'starts'))).map(workerStart),
    maxWorkers: MAX_WORKERS,
    installed: await namesIn('installed'),
    leftovers: [...(await namesIn('runtime/workloads')), ...(await namesIn('runtime/workspaces'))],
    edge: { recorded: recorded.map(({ what }) => what).toSorted(), found: await instancesIn(join(folder, 'site')) },
  }
}

/** One after the other, on one connection. */
export const readDatabase = async (query: Query) => ({
  log: await query<LoggedChange>(LOG),
  flow: await query<FlowChange>(FLOW),
  tables: await readTables(query),
  secrets: await query<{ name: string; sealed: Buffer; projectId: string }>(SECRETS),
  copies: await query<{ eventId: string; name: string; sealed: Buffer; projectId: string }>(COPIES),
  recorded: await query<{ what: string }>(INSTANCES),
  databaseNow: (await query<{ now: Date }>('select now()'))[0]?.now ?? new Date(0),
})

const LOG = `
  select b.first_seq + c.idx as sequence, c.object_id as "objectId", c.root_id as "rootId", c.kind, c.name, c.machine,
    c."from", c."to", c.actor, c.rejected, c.reason, c.revision, c.job_id as "jobId", c.at, c."by", c.message
  from phase_change c join log_batch b on b.id = c.batch_id order by 1`
const SECRETS = 'select project_id as "projectId", name, sealed from secret'
const COPIES = `
  select s.event_id as "eventId", s.name, s.sealed, o.project_id as "projectId" from event_secret s join object o on o.id = s.event_id`
const INSTANCES = `
  select case when o.kind = 'APP_INST' then p.name || '/' else '' end || o.name || ' ' || e.spec_revision as what
  from edge_inst e join object o on o.id = e.object_id join object p on p.id = o.parent_id`

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
async function readTables(query: Query): Promise<Tables> {
  const read = async (table: WatchedTable) => {
    const columns = Object.keys(columnsOf(table)).map((property) => `"${snake(property)}" as "${property}"`)
    return [table, await query(`select ${columns.join(', ')} from "${snake(table)}"`)] as const
  }
  const all: [WatchedTable, readonly object[]][] = []
  for (const table of WATCHED) all.push([...(await read(table))])
  return Object.fromEntries(all) as unknown as Tables
}

async function linesOf(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

function gadgetLine(line: string): GadgetLine {
  const [did, job = '', seconds] = line.split(' ')
  return { did: did as GadgetLine['did'], job, atMs: Number(seconds) * 1_000 }
}
function workerStart(line: string): WorkerStart {
  const [id = '', seconds, secret = ''] = line.split(' ')
  return { id, atMs: Number(seconds) * 1_000, secret }
}

type SpanLine = { readonly span: string } & Partial<WorkSpan>
function spansOf(lines: readonly string[]): readonly WorkSpan[] {
  const spans = new Map<string, WorkSpan>()
  for (const line of lines) {
    const { span, ...rest } = parsed(line) ?? { span: '' }
    if (span === '') continue
    spans.set(span, { toMs: Number.POSITIVE_INFINITY, ...spans.get(span), span, ...rest } as WorkSpan)
  }
  return [...spans.values()]
}
/** Null: a killed process has not written all of it. */
function parsed(line: string): SpanLine | null {
  try {
    return JSON.parse(line) as SpanLine
  } catch {
    return null
  }
}
