import { measureShape } from './profile.ts'
import type { Measure } from './turn.ts'

/** Everything is for a tree of ten items. */
export const measure: Measure = (turn) => measureShape(turn, { trees: 8, items: 10, runs: 100, per: 'tree' })
