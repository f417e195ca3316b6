import { once } from 'node:events'
import { join } from 'node:path'
import { checkOut, thisCheckout } from '../checkout.ts'
import { type BenchContext, type Cell, median, quantile, type Section, startRedis } from '../harness.ts'
import { disconnect, forkModule } from '../processes.ts'
import type { Figures, Measure } from './turn.ts'

export interface Comparison {
  /** Measures a workload on both checkouts, by turns. */
  run(name: string): Promise<Section>
}
type Side = 'before' | 'after'
/** The figures of one round. */
type Pair = Record<Side, Figures>

/** Each begins every other round, so that neither gains by a machine that gets slower or faster. */
const ORDERS: readonly (readonly Side[])[] = [
  ['before', 'after'],
  ['after', 'before'],
]

export interface ComparisonOptions {
  readonly ref: string
  /** Part of the requests of which this checkout sends traces; null: none. */
  readonly traced: number | null
}

/** Another commit and this checkout, on one Postgres and one Redis; `resources` ends and removes what they need. */
export async function openComparison(
  { ref, traced }: ComparisonOptions,
  { postgres, log, rounds, only }: BenchContext,
  resources: AsyncDisposableStack,
): Promise<Comparison> {
  log(`installing ${ref} …`)
  const checkouts = { before: await checkOut(ref, resources), after: thisCheckout() }
  const redis = resources.use(await startRedis({ aof: 'no' }))
  const env = { before: {}, after: traced === null ? {} : traceTo(await startSink(resources), traced) }
  const freshDatabase = async (): Promise<string> => {
    const url = await postgres.createDatabase('paired')
    await postgres.checkpoint()
    return url
  }
  return {
    async run(name) {
      const { measure } = (await import(`./${name}.ts`)) as { measure: Measure }
      const pairs: Pair[] = []
      for (let round = 0; round < rounds; round++) {
        const pair: Pair = { before: {}, after: {} }
        for (const side of ORDERS[round % ORDERS.length] ?? []) {
          const checkout = checkouts[side].folder
          pair[side] = await measure({ checkout, redisUrl: redis.url, env: env[side], only, freshDatabase })
        }
        pairs.push(pair)
        log(`  round ${round + 1} of ${rounds}`)
      }
      return sectionOf(name, checkouts.before.name, checkouts.after.name, pairs)
    },
  }
}

/** Returns its URL. */
async function startSink(resources: AsyncDisposableStack): Promise<string> {
  const sink = forkModule(join(import.meta.dirname, '../trace-sink.ts'))
  resources.defer(() => disconnect(sink))
  const [port] = (await once(sink.child, 'message')) as [number]
  return `http://127.0.0.1:${port}`
}

const traceTo = (collector: string, ratio: number): Readonly<Record<string, string>> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: String(ratio),
})

function sectionOf(name: string, before: string, after: string, pairs: readonly Pair[]): Section {
  return {
    title: `${name}: ${after} against ${before}, rounds: ${pairs.length}`,
    prose: `A ratio is ${after} / ${before}: of the medians, and of each round, of which these are median and quartiles.`,
    table: {
      columns: ['figure', before, after, 'ratio of medians', 'median of ratios', 'quartiles of ratios'],
      rows: figuresOf(pairs).map((figure) => rowOf(figure, pairs)),
    },
    ratios: [],
  }
}

/** Also those that only one of the two has. */
const figuresOf = (pairs: readonly Pair[]): string[] => [
  ...new Set(pairs.flatMap(({ before, after }) => [...Object.keys(before), ...Object.keys(after)])),
]

function rowOf(figure: string, pairs: readonly Pair[]): Cell[] {
  const of = (pair: Pair, side: Side): number => pair[side][figure] ?? Number.NaN
  const [before, after] = [median(pairs.map((p) => of(p, 'before'))), median(pairs.map((p) => of(p, 'after')))]
  const ratios = pairs.map((pair) => of(pair, 'after') / of(pair, 'before'))
  const quartiles = [quantile(ratios, 0.25), quantile(ratios, 0.75)]
  return [figure, before, after, times(after / before), times(median(ratios)), quartiles.map(times).join(' – ')]
}

const times = (ratio: number): string => `${ratio.toFixed(3)}×`
