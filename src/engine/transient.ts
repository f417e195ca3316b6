import { RevisionConflict } from '../store/transition.ts'

/** Serialisation failure and deadlock; both are safe to repeat, since nothing was written. */
const TRANSIENT = new Set(['40001', '40P01'])
export const isTransient = (error: unknown): boolean =>
  error instanceof RevisionConflict || (error instanceof Error && 'code' in error && TRANSIENT.has(String(error.code)))

/** A constraint or the guard has refused a decision, which may have been made on recalled objects that are not so any more. */
export const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^23/.test(String(error.code))
