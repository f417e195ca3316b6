/** Facts of work that an object in a graph shows beside its phase. */
export interface WorkFacts {
  /** e.g. `40%` or `12 files`. */
  readonly progress: string | null
  /** e.g. `2 of 3`, or `1 of 3, final`; null for a first attempt that says nothing which the phase does not. */
  readonly attempt: string | null
}

export interface WorkSource {
  readonly progress?: {
    readonly step: string | null
    readonly value: number | null
    readonly total: number | null
    readonly unit: string | null
  } | null
  readonly maxAttempts?: number | null | undefined
  readonly attempts?:
    | readonly {
        readonly number: number
        readonly begunAt: string | null
        readonly finalBy: 'AGENT' | 'POLICY' | null
      }[]
    | undefined
}

export function factsOf({ progress, maxAttempts, attempts = [] }: WorkSource): WorkFacts {
  const { value = null, total = null, unit = null } = progress ?? {}
  const { number = 1, finalBy = null } = attempts.at(-1) ?? {}
  const isTold = number > 1 || finalBy !== null
  return {
    progress:
      value === null
        ? null
        : total !== null && total > 0
          ? `${Math.floor((100 * value) / total)}%`
          : [value.toLocaleString('en'), unit].filter(Boolean).join(' '),
    attempt: isTold && maxAttempts ? `${number} of ${maxAttempts}${finalBy === null ? '' : ', final'}` : null,
  }
}
