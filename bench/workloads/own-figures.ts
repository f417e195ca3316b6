import { THIS_CHECKOUT } from '../checkout.ts'
import { type BenchContext, median, quantile, type Section, startRedis } from '../harness.ts'
import type { Figures, Measure } from '../paired/turn.ts'

/** The figures of a paired workload for this checkout alone: medians and quartiles of the rounds. */
export async function measureAlone(
  measure: Measure,
  { postgres, rounds, log }: BenchContext,
  text: Pick<Section, 'title' | 'prose'>,
): Promise<Section> {
  await using redis = await startRedis({ aof: 'no' })
  const freshDatabase = (): Promise<string> => postgres.createDatabase('alone')
  const turns: Figures[] = []
  for (let round = 0; round < rounds; round++) {
    turns.push(await measure({ checkout: THIS_CHECKOUT, redisUrl: redis.url, env: {}, only: null, freshDatabase }))
    log(`  round ${round + 1} of ${rounds}`)
  }
  const figures = [...new Set(turns.flatMap((turn) => Object.keys(turn)))]
  const rows = figures.map((figure) => {
    const values = turns.map((turn) => turn[figure] ?? 0)
    return [figure, median(values), [0.25, 0.75].map((share) => quantile(values, share).toFixed(2)).join(' – ')]
  })
  return { ...text, table: { columns: ['figure', 'median', 'quartiles'], rows }, ratios: [] }
}
