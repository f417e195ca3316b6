import { isSelected, type ServedTargets, type TargetFacts } from './target.ts'

/** Matches agents with work, for claims that wait. */

/** The types that a connected agent claims, and its rights. */
export interface Claimant {
  readonly types: readonly string[]
  /** Null: any, or with a selector those that it selects, and no others. */
  readonly targets: readonly string[] | null
  readonly targetSelector: ServedTargets | null
  /** Ids of the projects for which it may work; null: all. */
  readonly projectIds: readonly string[] | null
}

export interface OfferedWork {
  readonly type: string
  /** Null: any agent of its type may take it. */
  readonly target: string | null
  /** The target of that name in the project; null or absent: there is none. */
  readonly targetFacts?: Omit<TargetFacts, 'name'> | null | undefined
  /** Null: a project that does not exist yet. */
  readonly projectId: string | null
}

export const worksFor = ({ projectIds }: Pick<Claimant, 'projectIds'>, projectId: string | null): boolean =>
  projectIds === null || (projectId !== null && projectIds.includes(projectId))

/**
 * True if the agent takes work for the target. One that only selects takes no work without a target: it may know no place of
 * its own. The statement that finds candidates applies the same rule.
 */
export function takesTarget(
  { targets, targetSelector }: Pick<Claimant, 'targets' | 'targetSelector'>,
  { target, targetFacts }: Pick<OfferedWork, 'target' | 'targetFacts'>,
): boolean {
  if (target === null) return targets !== null || targetSelector === null
  if (targets?.includes(target) ?? targetSelector === null) return true
  if (!targetSelector || !targetFacts) return false
  return (targetSelector.within?.includes(target) ?? true) && isSelected(targetFacts, targetSelector)
}

export const serves = (claimant: Claimant, work: OfferedWork): boolean =>
  claimant.types.includes(work.type) && takesTarget(claimant, work) && worksFor(claimant, work.projectId)

export const servedBy =
  (claimants: readonly Claimant[]) =>
  (work: OfferedWork): boolean =>
    claimants.some((claimant) => serves(claimant, work))
