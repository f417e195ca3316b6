import type { Machine } from '../core/machine.ts'
import { machines as deployments } from './deployments/machines.ts'
import { machines as edge } from './edge/machines.ts'
import { machines as operations } from './operations/machines.ts'
import { machines as pipelines } from './pipelines/machines.ts'

/** Every machine of the product; a kind's first one is that of its phase. */
export const allMachines: readonly Machine[] = [...deployments, ...pipelines, ...operations, ...edge]
