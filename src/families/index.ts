import { deployments } from './deployments/family.ts'
import { edge } from './edge/family.ts'
import type { Family } from './family.ts'
import { operations } from './operations/family.ts'
import { pipelines } from './pipelines/family.ts'

/** The families that the engine drives. */
export const families: readonly Family[] = [deployments, pipelines, operations, edge]
