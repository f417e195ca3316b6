/** Jobs of a root that begin by themselves, as command line and dashboard read and say them. */

export const AUTOMATIC_FRAGMENT = `fragment Automatic on Installation {
  automaticReconcile { nextAt retry maxRetries editor problem }
}`
export interface ShownAutomatic {
  readonly nextAt: string | null
  readonly retry: number | null
  readonly maxRetries: number | null
  readonly editor: string
  readonly problem: string | null
}

/** The words in place of a time. @param isIdle the object is finished, and its policy has set no next time */
export const idleWords = ({ maxRetries }: ShownAutomatic, isIdle: boolean): string =>
  isIdle
    ? `not before another job has ended${maxRetries === null ? '' : ` (at most ${maxRetries} after a failure)`}`
    : 'after a job has ended'

/** `2 of 3 after a failure`; null: the next job follows a success, or there is none. */
export const retryOf = ({ retry, maxRetries }: ShownAutomatic): string | null =>
  retry === null ? null : `${retry}${maxRetries === null ? '' : ` of ${maxRetries}`} after a failure`
