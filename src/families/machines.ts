import type { Machine } from '../core/machine.ts'
import { families } from './index.ts'

/** All machines of the product. The first machine of a kind governs its phase. */
export const allMachines: readonly Machine[] = families.flatMap(({ machines }) => machines)
