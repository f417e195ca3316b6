import type { Phase } from '../../../core/vocabulary.ts'

/** The five classes into which an execution sorts its items. */
export interface ItemClasses {
  /** A: triggered in this job and succeeded. */
  readonly succeeded: number
  /** B: triggered in this job and failed or aborted. */
  readonly failed: number
  /** C: triggered in this job and not finished. */
  readonly unfinished: number
  /** D: not triggered and ready. */
  readonly triggerable: number
  /** E: not triggered and waiting for other items. */
  readonly waiting: number
}

export interface CountedItems {
  readonly phase: Phase
  readonly triggered: boolean
  readonly finished: boolean
  readonly waits: boolean
  readonly count: number
}

export function classesOf(counts: readonly CountedItems[]): ItemClasses {
  const classes = { succeeded: 0, failed: 0, unfinished: 0, triggerable: 0, waiting: 0 }
  for (const items of counts) classes[classOf(items)] += items.count
  return classes
}

function classOf({ phase, triggered, finished, waits }: CountedItems): keyof ItemClasses {
  if (!triggered) return waits ? 'waiting' : 'triggerable'
  if (!finished) return 'unfinished'
  return phase === 'SUCCEEDED' ? 'succeeded' : 'failed'
}
