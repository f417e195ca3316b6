import { deployments } from './deployments/family.ts'
import type { Family } from './family.ts'

/** The families that the engine drives. */
export const families: readonly Family[] = [deployments]
