/** The plan of an installation, as the API returns it. */
export interface PlanStep {
  readonly order: number
  readonly action: string
  readonly kind: string
  readonly path: readonly string[]
  readonly reason: string
}
/** A cause for which objects of the plan would wait. */
export interface PlanBlocker {
  readonly reason: string
  readonly message: string
  readonly path: readonly string[]
  readonly objectCount: number
}
/** An item that brings code. */
export interface PlannedCode {
  readonly path: readonly string[]
  readonly message: string
  /** True if the viewer may bring it. */
  readonly permitted: boolean
}
export interface Plan {
  readonly steps: readonly PlanStep[]
  readonly blockers: readonly PlanBlocker[]
  readonly broughtCode: readonly PlannedCode[]
}

/** Symbols are distinguishable without colour; `look` is a class of phases. */
export const ACTIONS: Readonly<
  Record<string, { readonly word: string; readonly symbol: string; readonly look: string }>
> = {
  CREATE: { word: 'create', symbol: '+', look: 'DONE' },
  UPDATE: { word: 'change', symbol: '~', look: 'STOPPED' },
  RUN: { word: 'run again', symbol: '▶', look: 'ACTIVE' },
  DELETE: { word: 'delete', symbol: '−', look: 'FAILED' },
}
export const actionOf = (action: string) =>
  ACTIONS[action] ?? { word: action.toLowerCase(), symbol: '·', look: 'WAITING' }

/** e.g. `5 to create, 1 to change, 2 to delete.` */
export function summaryOf({ steps }: Plan): string {
  const counts = new Map<string, number>()
  for (const { action } of steps) counts.set(action, (counts.get(action) ?? 0) + 1)
  const known = [...Object.keys(ACTIONS), ...counts.keys()].filter((action, i, all) => all.indexOf(action) === i)
  const parts = known.flatMap((action) => {
    const count = counts.get(action)
    return count ? [`${count.toLocaleString('en')} to ${actionOf(action).word}`] : []
  })
  return parts.length === 0 ? 'Nothing would be done.' : `${parts.join(', ')}.`
}
