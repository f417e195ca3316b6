import { parentPort, workerData } from 'node:worker_threads'
import type { LogFiles } from './lines.ts'
import { PublishedGuard, type PublishedMachine } from './published-guard.ts'
import { type Blocks, type Range, verifySegment } from './segment.ts'

/** A thread that verifies segments, one after the other. */

export interface SegmentWork {
  readonly source: LogFiles
  readonly blocks: Blocks
  readonly machines: readonly PublishedMachine[]
}

const { source, blocks, machines } = workerData as SegmentWork
const guard = new PublishedGuard(machines)
parentPort?.on('message', (range: Range) => {
  const segment = verifySegment(source, range, { blocks, guard })
  parentPort?.postMessage(segment, [segment.objects.buffer as ArrayBuffer])
})
