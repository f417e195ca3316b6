import { automation } from './automation/index.ts'
import type { FamilyDefinition } from './define-family.ts'
import { deployments } from './deployments/index.ts'
import { edge } from './edge/index.ts'
import { flow } from './flow/index.ts'
import { notifications } from './notifications/index.ts'
import { operations } from './operations/index.ts'
import { pipelines } from './pipelines/index.ts'

/** All families of the product: the only list of them. */
export const families: readonly FamilyDefinition[] = [
  deployments,
  pipelines,
  operations,
  edge,
  automation,
  flow,
  notifications,
]
