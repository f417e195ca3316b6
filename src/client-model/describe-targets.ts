export interface TargetSelector {
  readonly type: string | null
  readonly labels: readonly { readonly key: string; readonly value: string }[]
}

/** The targets of an agent, such as `all`, `eu, us` or `type kubernetes, region=eu`. */
export function describeTargets({
  targets,
  targetSelector,
}: {
  readonly targets: readonly string[] | null
  readonly targetSelector: TargetSelector | null
}): string {
  if (!targetSelector) return targets ? targets.join(', ') : 'all'
  const { type, labels } = targetSelector
  return [
    ...(targets ?? []),
    ...(type === null ? [] : [`type ${type}`]),
    ...labels.map(({ key, value }) => `${key}=${value}`),
  ].join(', ')
}
