import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { instancesIn } from '../agents/edge-folders.ts'
import type {
  AcceptedCreation,
  DeclaredLock,
  Evidence,
  GadgetLine,
  LoggedChange,
  PerformedFault,
  ReaderRecord,
  StoredObject,
  WorkSpan,
} from './evidence.ts'
import { type ChaosPlace, MAX_WORKERS } from './place.ts'

/** Reads all evidence of a run that has come to rest. Nothing is asked of the servers. */
export async function collect(
  place: ChaosPlace,
  told: { accepted: readonly AcceptedCreation[]; readers: readonly ReaderRecord[]; faults: readonly PerformedFault[] },
): Promise<Evidence> {
  const { folder } = place
  const namesIn = (path: string): Promise<readonly string[]> => readdir(join(folder, path)).catch(() => [])
  const [log, objects, args, locks, recorded] = await Promise.all([
    place.query<LoggedChange>(LOG),
    place.query<StoredObject>('select id, root_id as "rootId", kind, name, phase from object'),
    place.query<{ id: string; args: readonly string[] }>(
      'select object_id as id, args from gadget_job where args is not null',
    ),
    place.query<{ objectId: string; resource: string }>('select object_id as "objectId", resource from lock'),
    place.query<{ what: string }>(INSTANCES),
  ])
  return {
    ...told,
    log,
    objects,
    declared: new Map(args.map(({ id, args: words }) => [id, words.slice(2).map(lockOf)])),
    locks,
    spans: spansOf(await linesOf(join(folder, 'spans'))),
    gadgets: (await linesOf(join(folder, 'said'))).map(gadgetLine),
    starts: await linesOf(join(folder, 'starts')),
    maxWorkers: MAX_WORKERS,
    installed: await namesIn('installed'),
    leftovers: [...(await namesIn('runtime/workloads')), ...(await namesIn('runtime/workspaces'))],
    edge: { recorded: recorded.map(({ what }) => what).toSorted(), found: await instancesIn(join(folder, 'site')) },
  }
}

const LOG = `
  select (b.first_seq + c.idx)::integer as sequence, c.object_id as "objectId", c.root_id as "rootId", c.kind, c.name, c.machine,
    c."from", c."to", c.actor, c.rejected
  from phase_change c join log_batch b on b.id = c.batch_id order by 1`
const INSTANCES = `
  select case when o.kind = 'APP_INST' then p.name || '/' else '' end || o.name || ' ' || e.spec_revision as what
  from edge_inst e join object o on o.id = e.object_id join object p on p.id = o.parent_id`

async function linesOf(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}
/** `r1=X` */
const lockOf = (word: string): DeclaredLock => ({ resource: word.slice(0, -2), exclusive: word.endsWith('X') })

function gadgetLine(line: string): GadgetLine {
  const [did, job = '', seconds] = line.split(' ')
  return { did: did as GadgetLine['did'], job, atMs: Number(seconds) * 1_000 }
}

type SpanLine = { readonly span: string } & Partial<WorkSpan>
function spansOf(lines: readonly string[]): readonly WorkSpan[] {
  const spans = new Map<string, WorkSpan>()
  for (const line of lines) {
    const { span, ...rest } = parsed(line) ?? { span: '' }
    if (span === '') continue
    spans.set(span, { toMs: Number.POSITIVE_INFINITY, ...spans.get(span), ...rest } as WorkSpan)
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
