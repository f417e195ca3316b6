import pg from 'pg'
import { type BenchContext, startPostgres, type Workload } from './harness.ts'
import { look, render, writePage } from './report.ts'

/**
 * `npm run bench [-- name …]`: runs these workloads, or all, prints their results and writes them into
 * docs/benchmarks.md. Nothing is asserted here; the numbers are of this machine, now.
 */
const NAMES = [
  'tree',
  'latency',
  'events',
  'locks',
  'fan-out',
  'storm',
  'read',
  'scale',
  'scale:prefilled',
  'mutation',
] as const
const ROUNDS = 3

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !NAMES.some((known) => known === name))
if (unknown.length > 0) throw new Error(`there is no workload ${unknown.join(', ')}: ${NAMES.join(', ')}`)
const log = (line: string): boolean => process.stderr.write(`${line}\n`)

await using postgres = await startPostgres()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave())
const context: BenchContext = { postgres, log, rounds: ROUNDS }
const version = await versionOf(postgres.url)
const rendered = new Map<string, string>()
for (const name of asked.length > 0 ? NAMES.filter((known) => asked.includes(known)) : NAMES) {
  const { workload } = (await import(`./workloads/${name.replace(':', '-')}.ts`)) as { workload: Workload }
  const surroundings = look()
  log(`${workload.name} …`)
  const section = render(name, await workload.run(context), surroundings)
  process.stdout.write(`${section}\n\n`)
  rendered.set(name, section)
  // After each workload, so that a later failure loses no result.
  writePage(NAMES, rendered, version)
}

/** Stops Postgres, which is in a process group of its own; everything else ends with this process. */
async function leave(): Promise<void> {
  await postgres[Symbol.asyncDispose]()
  process.exit(1)
}

async function versionOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ version: string }>(`select current_setting('server_version') as version`)
  await client.end()
  return rows[0]?.version ?? '?'
}
