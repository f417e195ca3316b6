import { parentPort, workerData } from 'node:worker_threads'
import { Law, type PublishedMachine } from './law.ts'
import { type Blocks, type Range, type Source, verifySegment } from './segment.ts'

/** A thread that verifies segments, one after the other. */

export interface SegmentWork {
  readonly source: Source
  readonly blocks: Blocks
  readonly machines: readonly PublishedMachine[]
}

const { source, blocks, machines } = workerData as SegmentWork
const law = new Law(machines)
parentPort?.on('message', (range: Range) => {
  const segment = verifySegment(source, range, { blocks, law })
  parentPort?.postMessage(segment, [segment.standings.buffer as ArrayBuffer])
})
