import { RevisionConflict } from '../store/transition.ts'

/** Serialisation failure and deadlock; both are safe to repeat, since nothing was written. */
const TRANSIENT = new Set(['40001', '40P01'])
export const isTransient = (error: unknown): boolean =>
  error instanceof RevisionConflict || (error instanceof Error && 'code' in error && TRANSIENT.has(String(error.code)))
