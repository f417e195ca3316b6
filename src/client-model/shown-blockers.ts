/** The blockers of an object as people read them: open children are told only if nothing is before them, since that says more. */
export const shownBlockers = <B extends { readonly reason: string }>(blockers: readonly B[]): readonly B[] =>
  blockers.filter(({ reason }, i) => i === 0 || reason !== 'CHILDREN')
