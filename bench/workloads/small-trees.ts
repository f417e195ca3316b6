import type { Workload } from '../harness.ts'
import { measure } from '../paired/small-trees.ts'
import { measureAlone } from './own-figures.ts'

export const workload: Workload = {
  name: 'small-trees',
  run: (context) =>
    measureAlone(measure, context, { title: 'small-trees: what a tree of ten items costs, and where', prose: PROSE }),
}

const PROSE = `
Eight trees of a root and ten items at once, a hundred times in each round, measured as *profile* is. All figures are for one tree.
`
