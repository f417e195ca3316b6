import { ClientError } from '../client/client-error.ts'
import { networkProblem } from '../client/http-call.ts'
import { tokenSource } from '../client/token-source.ts'
import { type Outcome, refused } from '../client-model/index.ts'
import type { Session } from './session.ts'
import { duration } from './terminal/text.ts'

/** The work of a server, from its metrics: figures of the whole instance, which cost the database little however often they are read. */
export interface Load {
  /** False: the database has not answered all questions in time, and what is missing counts as none. */
  readonly isWhole: boolean
  readonly work: readonly WorkOfType[]
  /** Trees that the engine should have reconciled by now. */
  readonly trees: { readonly due: number; readonly oldestSeconds: number; readonly failing: number }
  readonly slots: readonly Slots[]
  /** Tasks that wait for a lock of a resource. */
  readonly locksWaiting: number
  /** Agents that were heard of in the last minute. */
  readonly agents: readonly { readonly actor: string; readonly count: number }[]
}
interface WorkOfType {
  readonly type: string
  /** It waits for an agent. */
  readonly offered: number
  /** It waits for the time of its next attempt. */
  readonly deferred: number
  readonly claimed: number
  /** Time since the oldest offered work was triggered; null: none waits. */
  readonly oldestSeconds: number | null
}
interface Slots {
  readonly pool: string
  readonly waiting: number
  readonly holding: number
  readonly capacity: number | null
}

const TIMEOUT_MS = 10_000

/** Reads the metrics at the server's own address, which takes the role MONITOR or ADMINISTRATOR. */
export async function readLoad(session: Pick<Session, 'connection' | 'io'>): Promise<Outcome<Load>> {
  const { status, url, text } = await readMetrics(session)
  if (status === 200) return { ok: true, value: loadOf(text) }
  if (status === 401 || status === 403)
    return refused({
      code: 'FORBIDDEN',
      message: 'The load is of all projects: --load takes the role MONITOR or ADMINISTRATOR.',
    })
  return refused({ code: 'NOT_FOUND', message: `The server shows no metrics at ${url}.` })
}

/** @throws ClientError, or the reason of the signal */
async function readMetrics({ connection, io: { signal } }: Pick<Session, 'connection' | 'io'>) {
  const url = new URL('metrics', connection.url)
  const token = await tokenSource(connection.token).ask()
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    return { url: url.href, status: response.status, text: await response.text() }
  } catch (error) {
    throw signal.aborted ? error : new ClientError('network', networkProblem(error, token))
  }
}

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Samples of a text of Prometheus. */
function* samplesIn(text: string): Generator<Sample> {
  for (const [, name = '', labels = '', value] of text.matchAll(/^phaseline_(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    const unescaped = pairs.map(([, key = '', one = '']) => [key, one.replaceAll(/\\(.)/g, '$1')])
    yield { name, labels: Object.fromEntries(unescaped), value: Number(value) }
  }
}

export function loadOf(text: string): Load {
  const samples = [...samplesIn(text)]
  const numberOf = (name: string, wanted: Sample['labels'] = {}): number | null =>
    samples.find(
      (one) => one.name === name && Object.entries(wanted).every(([key, value]) => one.labels[key] === value),
    )?.value ?? null
  const countOf = (name: string, wanted?: Sample['labels']): number => numberOf(name, wanted) ?? 0
  const each = (name: string, label: string): readonly string[] => [
    ...new Set(samples.flatMap((one) => (one.name === name ? (one.labels[label] ?? []) : []))),
  ]
  return {
    isWhole: numberOf('database_up') === 1,
    work: each('work', 'type').map((type) => ({
      type,
      offered: countOf('work', { type, state: 'offered' }),
      deferred: countOf('work', { type, state: 'deferred' }),
      claimed: countOf('work', { type, state: 'claimed' }),
      oldestSeconds: numberOf('work_oldest_seconds', { type, state: 'offered' }),
    })),
    trees: {
      due: countOf('trees_due', { by: 'clock' }) + countOf('trees_due', { by: 'wake' }),
      oldestSeconds: countOf('trees_oldest_due_seconds'),
      failing: countOf('trees_failing'),
    },
    slots: each('slots_capacity', 'pool').map((pool) => ({
      pool,
      waiting: countOf('slots', { pool, state: 'waiting' }),
      holding: countOf('slots', { pool, state: 'holding' }),
      capacity: numberOf('slots_capacity', { pool }),
    })),
    locksWaiting: countOf('resource_locks_waiting'),
    agents: each('agents', 'actor').map((actor) => ({ actor, count: countOf('agents', { actor }) })),
  }
}

/** Prints what waits, and for how long. */
export function printLoad(session: Session, { isWhole, work, trees, slots, locksWaiting, agents }: Load): void {
  const late = trees.due > 0 ? `, the oldest for ${duration(trees.oldestSeconds * 1000)}` : ''
  session.say(
    `due     ${trees.due} trees${late}${trees.failing > 0 ? `, ${trees.failing} fail again and again` : ''}`,
    ...slots.map(
      ({ pool, holding, capacity, waiting }) => `slots   ${pool}: ${holding} of ${capacity} taken, ${waiting} wait`,
    ),
    `locks   ${locksWaiting} tasks wait for one`,
    `roles   ${agents.map(({ actor, count }) => `${count} ${actor.toLowerCase()}`).join(', ') || 'no agents'}`,
  )
  session.list({
    nodes: work,
    columns: {
      WORK: ({ type }) => type,
      WAITING: ({ offered }) => offered,
      OLDEST: ({ oldestSeconds }) => (oldestSeconds === null ? '' : duration(oldestSeconds * 1000)),
      DEFERRED: ({ deferred }) => deferred,
      CLAIMED: ({ claimed }) => claimed,
    },
    none: 'No work is open.',
  })
  if (!isWhole) session.note('The database has not answered in time: some of these figures are missing.')
}
