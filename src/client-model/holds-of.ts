interface Hold {
  readonly project: { readonly name: string } | null
}

/** The holds of automation that concern a project, or any if none is named. A hold of all projects holds each of them. */
export const holdsOf = <H extends Hold>(holds: readonly H[], project: string | undefined): readonly H[] =>
  holds.filter((one) => !one.project || !project || one.project.name === project)
