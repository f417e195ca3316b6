import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'

/** The course of an object through a job, from the log. */
export interface ObjectInRun {
  readonly objectId: string
  readonly jobId: string
  readonly kind: ObjectKind
  readonly path: string
  readonly phase: Phase
  readonly startedAt: Date
  readonly endedAt: Date
}

export interface RunPhaseDifference {
  readonly objectId: string
  readonly kind: ObjectKind
  readonly path: string
  readonly phaseA: Phase | null
  readonly phaseB: Phase | null
  readonly durationMsA: number | null
  readonly durationMsB: number | null
}

/** People ignore smaller differences. */
const WORTH_MS = 1_000

/** The objects that two jobs differ in, in the order of their ids. */
export function compareRunPhases(phases: readonly ObjectInRun[], a: string, b: string): readonly RunPhaseDifference[] {
  const byObject = Map.groupBy(phases, ({ objectId }) => objectId)
  return [...byObject.values()].flatMap((both): RunPhaseDifference[] => {
    const [one, other] = [a, b].map((jobId) => both.find((phase) => phase.jobId === jobId))
    const shown = other ?? one
    if (!shown) return []
    const [durationMsA, durationMsB] = [durationOf(one), durationOf(other)]
    if (one?.phase === other?.phase && !isFarFrom(durationMsA, durationMsB)) return []
    const { objectId, kind, path } = shown
    return [
      { objectId, kind, path, phaseA: one?.phase ?? null, phaseB: other?.phase ?? null, durationMsA, durationMsB },
    ]
  })
}

const durationOf = (one: ObjectInRun | undefined): number | null =>
  one ? one.endedAt.getTime() - one.startedAt.getTime() : null

function isFarFrom(a: number | null, b: number | null): boolean {
  if (a === null || b === null) return a !== b
  return Math.abs(a - b) >= WORTH_MS && Math.max(a, b) >= 2 * Math.min(a, b)
}
