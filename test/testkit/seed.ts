import fc from 'fast-check'
import { mulberry32 } from './mulberry32.ts'

/**
 * The random numbers of a run begin with this seed: `npm test` draws the same each time, and a group of deep tests draws
 * new ones, by a seed that it prints.
 */
export const SEED = Number(process.env.PHASELINE_TEST_SEED ?? 1)

/** Numbers from 0 to 1, the same for each file that asks. */
export const seeded = (): (() => number) => mulberry32(SEED)

// Each worker loads this file before its tests.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED })
