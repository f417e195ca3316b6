import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Seal } from '../../seal/seal.ts'
import type { LogFiles } from './lines.ts'
import { Phases, phaseIn, UNMOVED_IN_ALL, withPhase } from './phases.ts'
import { PublishedGuard, type PublishedMachine, SLOTS, UNMOVED } from './published-guard.ts'
import {
  beginningIn,
  interruption,
  type LogProblem,
  OBJECT_WORDS,
  type Range,
  type Segment,
  verifySegment,
} from './segment.ts'
import type { SegmentWork } from './segment-worker.ts'

/** Bytes of a segment: a thread verifies some of them each second. */
const SEGMENT = 16 * 1024 * 1024
const MOST_THREADS = 8

export interface VerifiedLog {
  /** Sequences; null: there is no change. */
  readonly range: { readonly first: number; readonly last: number } | null
  readonly count: number
  /** Changes that no seal of a whole block vouches for: at the beginning, and elsewhere. */
  readonly partial: number
  readonly unsealed: number
  readonly found: LogProblem | null
}

export interface VerifyParts {
  readonly seals: readonly Seal[]
  readonly machines: readonly PublishedMachine[]
  readonly segmentBytes?: number
  readonly signal?: AbortSignal
  /** 0: the work is done in this thread, as it is if there is one segment only. */
  readonly threads?: number
}

/** Verifies an export: complete, in order, as sealed, and each change legal. The first problem ends it. */
export async function verifyLog(
  source: LogFiles,
  {
    seals,
    machines,
    signal,
    segmentBytes = SEGMENT,
    threads = Math.min(availableParallelism(), MOST_THREADS),
  }: VerifyParts,
): Promise<VerifiedLog> {
  const size = source.files.reduce((sum, file) => sum + file.size, 0)
  const starts = Array.from({ length: Math.max(1, Math.ceil(size / segmentBytes)) }, (_, i) => i * segmentBytes)
  const blocks = seals.map(({ log, epoch, base, first, last, leaf }) => ({ log, epoch, base, first, last, leaf }))
  const guard = new PublishedGuard(machines)
  await using workers = new Threads(
    { source, blocks, machines },
    starts.length > 1 ? Math.min(starts.length, threads) : 0,
  )
  const verifyRange = async (range: Range) =>
    workers.size > 0 ? await workers.run(range) : verifySegment(source, range, { blocks, guard })
  const joined = new JoinedSegments(guard)
  const running: Promise<Segment>[] = []
  for (const start of starts) {
    signal?.throwIfAborted()
    const segment = verifyRange({ start, end: start + segmentBytes })
    // Segments after the first problem are awaited by nobody.
    segment.catch(() => undefined)
    running.push(segment)
    // Segments are joined in their order: not many of them wait.
    if (running.length > workers.size * 2 && !joined.add(await (running.shift() as Promise<Segment>))) break
  }
  for (const segment of running) if (!joined.found) joined.add(await segment)
  const sealed = seals.at(-1)?.last ?? 0
  const { last } = joined.range ?? { last: (seals[0]?.first ?? 1) - 1 }
  const isShort = !joined.found && last < sealed
  const cut: LogProblem = {
    ...{ sequence: last + 1, problem: 'MISSING' },
    what: `the log is sealed up to ${sealed}, and ends at ${last}`,
  }
  const { range, count, partial, unsealed, found } = joined
  return { range, count, partial, unsealed, found: isShort ? cut : found }
}

/** Segments in their order. */
class JoinedSegments {
  range: { readonly first: number; readonly last: number } | null = null
  count = 0
  partial = 0
  unsealed = 0
  found: LogProblem | null = null
  readonly #guard: PublishedGuard
  readonly #phases = new Phases()

  constructor(guard: PublishedGuard) {
    this.#guard = guard
  }

  /** False: there is a problem. */
  add({ range, count, partial, unsealed, found, objects }: Segment): boolean {
    if (range && this.range && range.first !== this.range.last + 1) {
      const sequence = this.range.last + 1
      this.found = { sequence, problem: 'MISSING', what: `${range.first} is in the place of ${sequence}` }
      return false
    }
    if (range) this.range = { first: this.range?.first ?? range.first, last: range.last }
    this.count += count
    this.partial += partial
    this.unsealed += unsealed
    const interrupted = range && this.#join(objects, range.first)
    const isFirst = interrupted && (!found || interrupted.sequence < found.sequence)
    this.found = isFirst ? interrupted : found
    return this.found === null
  }

  #join(objects: Uint32Array, first: number): LogProblem | null {
    let earliest: LogProblem | null = null
    for (let at = 0; at < objects.length; at += OBJECT_WORDS) {
      const id = objects.subarray(at, at + 4)
      const [before = 0, after = 0, revision = 0, last = 0, offset = 0] = objects.subarray(at + 4, at + OBJECT_WORDS)
      const known = this.#phases.get(id)
      let phases = known?.phases ?? UNMOVED_IN_ALL
      for (let slot = 0; slot < SLOTS; slot++) {
        if (phaseIn(after, slot) === UNMOVED) continue
        const change = { from: phaseIn(before, slot), revision, isBeginning: (before & beginningIn(slot)) !== 0 }
        const what = this.#wrong({ phase: phaseIn(phases, slot), revision: known?.revision ?? 0 }, change)
        const sequence = first + offset
        if (what !== null && (!earliest || sequence < earliest.sequence))
          earliest = { sequence, problem: 'INTERRUPTED', what }
        phases = withPhase(phases, slot, phaseIn(after, slot))
      }
      this.#phases.set(id, phases, last)
    }
    return earliest
  }

  #wrong(
    before: { readonly phase: number; readonly revision: number },
    { isBeginning, ...change }: { readonly from: number; readonly revision: number; readonly isBeginning: boolean },
  ): string | null {
    if (before.phase !== UNMOVED) return interruption(this.#guard, before, change)
    // Objects that are older than the export begin anywhere.
    if (this.range?.first === 1 && !isBeginning)
      return `it says that the object was ${this.#guard.phase(change.from)}, and nothing before it says so`
    return interruption(this.#guard, { ...before, phase: change.from }, change)
  }
}

/** Threads that take segments as they become free. */
class Threads implements AsyncDisposable {
  readonly #idle: Worker[]
  readonly #all: readonly Worker[]
  readonly #waiting: ((worker: Worker) => void)[] = []

  constructor(work: SegmentWork, size: number) {
    const file = new URL(`./segment-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
    this.#all = Array.from({ length: size }, () => new Worker(file, { workerData: work }))
    this.#idle = [...this.#all]
  }
  get size(): number {
    return this.#all.length
  }

  async run(range: Range): Promise<Segment> {
    const worker = this.#idle.pop() ?? (await new Promise<Worker>((resolve) => this.#waiting.push(resolve)))
    try {
      return await answerOf(worker, range)
    } finally {
      const next = this.#waiting.shift()
      if (next) next(worker)
      else this.#idle.push(worker)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.terminate()))
  }
}

const answerOf = (worker: Worker, range: object): Promise<Segment> =>
  new Promise((resolve, reject) => {
    const settle = () => {
      worker.off('message', done)
      worker.off('error', failed)
    }
    const done = (segment: Segment) => {
      settle()
      resolve(segment)
    }
    const failed = (error: Error) => {
      settle()
      reject(error)
    }
    worker.on('message', done)
    worker.on('error', failed)
    worker.postMessage(range)
  })
