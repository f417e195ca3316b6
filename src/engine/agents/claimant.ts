import type { Viewer } from '../../core/ports/viewer.ts'

/** The agent process that claims. */
export interface Claimant {
  readonly viewer: Viewer
  readonly instance: string
  readonly leaseMs: number
}
