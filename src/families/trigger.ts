import type { Refusal } from '../core/errors.ts'
import type { Outcome } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Problems } from '../core/problems.ts'
import type { Right } from '../core/rights.ts'

/** The interface between what happens by itself and the families that can be started so. */
export interface Trigger {
  /** The author needs it, when the schedule is written and at each firing. */
  readonly right: Right
  /** Adds the problems of the input, as it is with its expressions resolved. */
  check(input: TriggerInput, path: string, problems: Problems): Promise<void> | void
  /** The part of the input whose texts may hold expressions over `schedule`. */
  template(input: TriggerInput): unknown
  /** Starts a root, or a job of one. */
  run(viewer: Viewer, call: TriggerCall): Promise<Outcome<{ readonly objectId: string }, Refusal>>
  /** Ends what `run` has started, as far as that is possible. */
  cancel(viewer: Viewer, objectId: string, reason: string): Promise<Outcome<object, Refusal>>
}
export type TriggerInput = Readonly<Record<string, unknown>>
export interface TriggerCall {
  /** The name of the project. */
  readonly project: string
  readonly input: TriggerInput
  /** The result of the template. */
  readonly resolved: unknown
  /** The hops of a delivery to a hook; 0 for a schedule. */
  readonly hops: number
  /** The schedule as its expressions see it, or a hook with the time of the delivery. */
  readonly schedule: {
    readonly name: string
    readonly due: string
    readonly previous: string | null
    readonly count: number
  }
}

declare module '../graphql/context.ts' {
  interface FamilyServices {
    /** By their names. */
    readonly triggers: Readonly<Record<string, Trigger>>
  }
}
