/** What a workload is given and what it gives back; the parts that every workload is made of. */

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
  /** Progress, for whoever waits: not part of the results. */
  readonly log: (line: string) => void
  /** How often each contestant is measured, in turns with the others; medians are reported. */
  readonly rounds: number
}

/** A part of docs/benchmarks.md. */
export interface Section {
  readonly title: string
  /** Markdown: what is measured, and how each contestant is used. */
  readonly prose: string
  readonly table: Table
  /** One line of Markdown each: what the table means for us. */
  readonly ratios: readonly string[]
}
export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}
/** Numbers are written with as many digits as they are good for. */
export type Cell = string | number

/** Of an even number, the mean of the two in the middle. NaN when there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted.length / 2
  const [a, b] = [sorted[Math.ceil(upper) - 1], sorted[Math.floor(upper)]]
  return ((a ?? Number.NaN) + (b ?? Number.NaN)) / 2
}

/** The value below which lies this share of all, from 0 to 1. NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
