/** The context and the result of a workload, and the parts that all workloads share. */

import type { BenchPostgres } from './postgres.ts'

export { type BenchPostgres, startPostgres } from './postgres.ts'
export { type BenchRedis, type RedisOptions, startRedis } from './redis.ts'
export { type BenchServer, type Reading, type ServerOptions, startServer } from './server.ts'

/** A file `workloads/<name>.ts` exports it as `workload`. */
export interface Workload {
  readonly name: string
  /** Starts what it needs, and has ended all of it when it resolves. */
  run(context: BenchContext): Promise<Section>
}
export interface BenchContext {
  /** One server for all workloads of a run; databases are the workload's own. */
  readonly postgres: BenchPostgres
  /** Progress for the person who waits; not part of the results. */
  readonly log: (line: string) => void
  /** How often each contestant is measured, in turns with the others; medians are reported. */
  readonly rounds: number
  /** The part to measure, for a workload that has several; null: all parts. */
  readonly only: string | null
  /** How many there are of what the workload is about; null: as many as the page has. */
  readonly size: number | null
}

/** A part of docs/benchmarks.md. */
export interface Section {
  readonly title: string
  /** Markdown: the measurement, and how each contestant is used. */
  readonly prose: string
  readonly table: Table
  /** Conclusions from the table, one line of Markdown each. */
  readonly ratios: readonly string[]
}
export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}
/** As many digits as the number is precise to. */
export type Cell = string | number

/** The mean of the two in the middle if their number is even. NaN if there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted.length / 2
  const [a, b] = [sorted[Math.ceil(upper) - 1], sorted[Math.floor(upper)]]
  return ((a ?? Number.NaN) + (b ?? Number.NaN)) / 2
}

/** The value below which this share of all lies, from 0 to 1. NaN if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
