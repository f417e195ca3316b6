import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { NAMES, readArguments } from './arguments.ts'
import { type BenchContext, type Section, startPostgres, type Workload } from './harness.ts'
import { openComparison } from './paired/compare.ts'
import { stopProcesses } from './processes.ts'
import { look, render, writePage } from './report.ts'

/**
 * `npm run bench [-- name …] [--rounds N]`: runs these workloads, or all, prints their results and writes them into
 * docs/benchmarks.md. With `--against REF` it measures this checkout and that commit by turns, and with `--only TEXT` it runs
 * the attacks of `abuse` or the parts of `events` whose names hold the text; either only prints the results. With `--traced RATIO`
 * this checkout sends traces of that part of the requests to a collector while it is compared: `--against HEAD` shows their cost.
 * `--size N` has `schedules` and `schedules:many` run with N schedules, and prints the results as well.
 * Nothing is asserted here; the numbers are of this machine, now.
 */
const { names, against, rounds, only, traced, size } = readArguments(process.argv.slice(2))
const log = (line: string): boolean => process.stderr.write(`${line}\n`)
const stopped = Promise.withResolvers<boolean>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.resolve(true))
process.exit((await measure()) ? 0 : 1)

/** Resolves to true when everything is measured, to false after a signal. The run has left no process and no file by then. */
async function measure(): Promise<boolean> {
  await using resources = new AsyncDisposableStack()
  await useFolder(resources)
  const context: BenchContext = { postgres: resources.use(await startPostgres()), log, rounds, only, size }
  const work = against === null ? publish(context) : compare(against, context, resources)
  const isStopped = await Promise.race([work.then(() => false), stopped.promise])
  log('cleaning up …')
  if (isStopped) {
    // The workload that is under way fails from here on.
    process.on('uncaughtException', () => {})
    await stopProcesses()
  }
  return !isStopped
}

/** One folder for all files of this run. Postgres passes through it even when root runs it as another user. */
async function useFolder(resources: AsyncDisposableStack): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-bench-'))
  resources.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o711)
  process.env.TMPDIR = folder
}

async function publish(context: BenchContext): Promise<void> {
  const version = await versionOf(context.postgres.url)
  const rendered = new Map<string, string>()
  for (const name of names) {
    const { workload } = (await import(`./workloads/${name.replace(':', '-')}.ts`)) as { workload: Workload }
    rendered.set(name, await print(name, () => workload.run(context)))
    // After each workload, so that a later failure loses no result.
    if (only === null && size === null) writePage(NAMES, rendered, version)
  }
}

async function compare(ref: string, context: BenchContext, resources: AsyncDisposableStack): Promise<void> {
  const comparison = await openComparison({ ref, traced }, context, resources)
  for (const name of names) await print(name, () => comparison.run(name))
}

async function print(name: string, run: () => Promise<Section>): Promise<string> {
  const surroundings = look()
  log(`${name} …`)
  const section = render(name, await run(), surroundings)
  process.stdout.write(`${section}\n\n`)
  return section
}

async function versionOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ version: string }>(`select current_setting('server_version') as version`)
  await client.end()
  return rows[0]?.version ?? '?'
}
