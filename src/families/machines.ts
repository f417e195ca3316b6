import type { Machine } from '../core/machine.ts'
import { families } from './index.ts'

/** Every machine of the product; a kind's first one is that of its phase. */
export const allMachines: readonly Machine[] = families.flatMap(({ machines }) => machines)
