/** The blockers of an object as people read them: open children are one only if no other comes first, which says more. */
export const shownBlockers = <B extends { readonly reason: string }>(blockers: readonly B[]): readonly B[] =>
  blockers.filter(({ reason }, i) => i === 0 || reason !== 'CHILDREN')
