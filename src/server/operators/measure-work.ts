import { Counter, Gauge, type Registry } from 'prom-client'
import type { Counts } from '../../core/counts.ts'
import { type EngineCounts, FIGURES, type FigureName, type Figures, type PoolFacts } from '../../core/ports/measured.ts'

/** Metrics of any process with a database: its transactions, its pools, and the database's own figures. */
export interface MeasuredWork {
  readonly version: string
  readonly engine: EngineCounts
  pools(): readonly PoolFacts[]
  /** Never rejects, and is bounded in time. */
  figures(): Promise<Figures>
}

export function measureWork(registry: Registry, { version, engine, pools, figures }: MeasuredWork): void {
  const registers = [registry]
  new Gauge({
    name: 'phaseline_build_info',
    help: 'Always 1; which version runs, on which Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.versions.node }, 1)
  counter(registry, 'transactions', {
    help: 'Transactions on trees and projects by how they ended: committed, conflict (done again), lock_timeout, unavailable, failed.',
    labels: ['outcome'],
    counts: engine.transactions,
  })
  counter(registry, 'reconciles', {
    help: 'Attempts of the engine at due trees: done, gone, locked (another engine has it), waiting (for slow expressions of its project), failed.',
    labels: ['outcome'],
    counts: engine.reconciles,
  })
  counter(registry, 'transitions', {
    help: 'Phase changes that this process has committed, by kind and new phase.',
    labels: ['kind', 'to'],
    counts: engine.transitions,
  })
  measurePools(registry, pools)
  measureFigures(registry, figures)
}

/** For a gateway with replicas. */
export const measureReads = (registry: Registry, counts: Counted<'outcome'>['counts']): void =>
  counter(registry, 'replica_reads', {
    help: 'Statements of queries by who answered: replica, or the primary, since replicas were behind, away, of another history, or failed.',
    labels: ['outcome'],
    counts,
  })

interface Counted<L extends string> {
  readonly help: string
  readonly labels: readonly L[]
  readonly counts: Pick<Counts<L>, 'entries'>
}
function counter<L extends string>(registry: Registry, name: string, { help, labels, counts }: Counted<L>): void {
  new Counter<string>({
    name: `phaseline_${name}_total`,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      this.reset()
      for (const { labels: of, count } of counts.entries) this.inc(of, count)
    },
  })
}

function measurePools(registry: Registry, pools: () => readonly PoolFacts[]): void {
  new Gauge({
    name: 'phaseline_database_connections',
    help: 'Connections of this process by pool: used, idle, or how many there may be (most).',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const { name: pool, open, idle, most } of pools()) {
        this.set({ pool, state: 'used' }, open - idle)
        this.set({ pool, state: 'idle' }, idle)
        this.set({ pool, state: 'most' }, most)
      }
    },
  })
  new Gauge({
    name: 'phaseline_database_waiting',
    help: 'Requests of this process that wait for a connection, by pool.',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const { name: pool, waiting } of pools()) this.set({ pool }, waiting)
    },
  })
}

function measureFigures(registry: Registry, figures: () => Promise<Figures>): void {
  const names = Object.keys(FIGURES) as FigureName[]
  new Gauge({
    name: 'phaseline_database_up',
    help: 'True if the database has answered all questions of the metrics: 1 or 0. Unanswered ones are absent.',
    registers: [registry],
    async collect() {
      const read = await figures()
      this.set(names.every((name) => read[name]) ? 1 : 0)
    },
  })
  for (const name of names)
    new Gauge<string>({
      name: `phaseline_${name}`,
      help: FIGURES[name].help,
      labelNames: FIGURES[name].labels,
      registers: [registry],
      async collect() {
        const read = await figures()
        const known = read[name]
        this.reset()
        // A gauge without labels shows 0 otherwise, for what is not known.
        if (!known && FIGURES[name].labels.length === 0) this.remove()
        for (const { labels = {}, value } of known ?? []) this.set(labels, value)
      },
    })
}
