/** Matches agents with work, for claims that wait. */

/** The types that a connected agent claims, and its rights. */
export interface Claimant {
  readonly types: readonly string[]
  /** Null: any. */
  readonly targets: readonly string[] | null
  /** Ids of the projects for which it may work; null: all. */
  readonly projectIds: readonly string[] | null
}

export interface OfferedWork {
  readonly type: string
  /** Null: any agent of its type may take it. */
  readonly target: string | null
  /** Null: a project that does not exist yet. */
  readonly projectId: string | null
}

export const worksFor = ({ projectIds }: Pick<Claimant, 'projectIds'>, projectId: string | null): boolean =>
  projectIds === null || (projectId !== null && projectIds.includes(projectId))

export const serves = (claimant: Claimant, { type, target, projectId }: OfferedWork): boolean =>
  claimant.types.includes(type) &&
  (claimant.targets === null || target === null || claimant.targets.includes(target)) &&
  worksFor(claimant, projectId)

export const servedBy =
  (claimants: readonly Claimant[]) =>
  (work: OfferedWork): boolean =>
    claimants.some((claimant) => serves(claimant, work))
