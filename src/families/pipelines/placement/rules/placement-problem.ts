import { worksFor } from '../../../../core/claimant.ts'
import { hasLabels, isFull, type Labels } from '../../../../core/place.ts'
import type { Pool } from '../../rules/details.ts'

/** Why no place of its runtime takes a workload that waits. */

export const PLACEMENT_PROBLEMS = ['LABELS', 'DRAINED', 'FULL', 'LOST'] as const
export type PlacementProblem = (typeof PLACEMENT_PROBLEMS)[number]

/** A place as far as this goes. */
export interface CandidatePlace {
  readonly name: string
  readonly type: string
  /** Ids of the projects for which its runtime may work; null: all. */
  readonly projectIds: readonly string[] | null
  readonly labels: Labels
  readonly capacity: number | null
  readonly running: Readonly<Partial<Record<Pool, number>>>
  readonly isDrained: boolean
  readonly isLost: boolean
}

export interface WaitingWorkload {
  readonly pool: Pool
  readonly projectId: string
  readonly type: string
  readonly target: string | null
  readonly targetLabels: Labels | null
}

export interface Unplaced {
  readonly problem: PlacementProblem
  /** Names of the places that it is about. */
  readonly places: readonly string[]
  readonly message: string
}

/** Null: a place can take it, or none is registered that is of its type and works for its project. */
export function placementProblem(workload: WaitingWorkload, all: readonly CandidatePlace[]): Unplaced | null {
  const { pool, projectId, type, target, targetLabels } = workload
  const ofType = all.filter((place) => place.type === type && worksFor(place, projectId))
  if (ofType.length === 0) return null
  const suiting = ofType.filter(({ name, labels }) =>
    target === null ? hasLabels(labels, targetLabels) : name === target,
  )
  if (suiting.length === 0) {
    if (target !== null) return null
    const message = `No place of type ${type} has the labels ${sayLabels(targetLabels ?? {})}.`
    return { problem: 'LABELS', places: [], message }
  }
  const heard = suiting.filter(({ isLost }) => !isLost)
  if (heard.length === 0) return say('LOST', suiting, 'was not heard of', 'were not heard of')
  const open = heard.filter(({ isDrained }) => target !== null || !isDrained)
  if (open.length === 0) return say('DRAINED', heard, 'is drained', 'are drained')
  const noun = pool === 'WORKER' ? 'workers' : 'jobs'
  const full = open.filter((place) => isFull(place, pool))
  return full.length < open.length
    ? null
    : say('FULL', full, `runs all the ${noun}`, `run all the ${noun}`, ' that it may', ' that they may')
}

const sayLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')

function say(
  problem: PlacementProblem,
  places: readonly CandidatePlace[],
  ...[one, many, oneMore = '', manyMore = '']: readonly [string, string, string?, string?]
): Unplaced {
  const names = places.map(({ name }) => name)
  const isOne = places.length === 1
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
  const message = isOne
    ? `The place ${shown} ${one}${oneMore}.`
    : `The places that could take it ${many}${manyMore}: ${shown}.`
  return { problem, places: names, message }
}
