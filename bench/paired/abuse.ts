import { attack } from '../workloads/abuse.ts'
import type { Figures, Measure } from './turn.ts'

export const measure: Measure = async ({ checkout, env, only, freshDatabase }) => {
  const { found } = await attack({ checkout, env, databaseUrl: await freshDatabase() }, only)
  const figures = [...found].map(
    ([name, { viewer, tree, honest }]): Figures => ({
      [`${name}: viewer, p50, ms`]: viewer.p50,
      [`${name}: viewer, p99, ms`]: viewer.p99,
      [`${name}: tree, p50, ms`]: tree.p50,
      [`${name}: tree, p99, ms`]: tree.p99,
      ...(honest && { [`${name}: answered`]: honest.times - honest.refused, [`${name}: refused`]: honest.refused }),
    }),
  )
  return Object.assign({}, ...figures) as Figures
}
