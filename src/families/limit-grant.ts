/** The answer to an object that asks for limits. */
export interface LimitGrant {
  readonly isGranted: boolean
  /** It is not, and time alone keeps it waiting until then. */
  readonly dueAt: Date | null
  /** Objects after it may start now, too, or need a clock. */
  readonly leads: boolean
}

export const GRANTED: LimitGrant = { isGranted: true, dueAt: null, leads: false }
/** Another object comes first. */
export const REFUSED: LimitGrant = { isGranted: false, dueAt: null, leads: false }

declare module '../core/tree.ts' {
  interface FamilyEffects {
    /** The next ones behind an object that has started do so, too, or get a clock. With an id: that object is not to start at its time. */
    limitsPassed: string | null
  }
}
