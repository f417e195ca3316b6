import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Cell, Section, Table } from './harness.ts'

const FILE = join(import.meta.dirname, '../docs/benchmarks.md')
const PEERS = [
  'bullmq',
  'graphile-worker',
  'pg-boss',
  '@dbos-inc/dbos-sdk',
  'mercurius',
  'graphql-yoga',
  'graphql-ws',
  'ws',
  'postgraphile',
] as const

/** The machine as it was when a workload began. */
export interface Surroundings {
  readonly at: Date
  readonly load: number
}
export const look = (): Surroundings => ({ at: new Date(), load: loadavg()[0] ?? Number.NaN })

/** A section of the page, between two marks by which it is found again. */
export function render(name: string, section: Section, { at, load }: Surroundings): string {
  return [
    `<!-- ${name} -->`,
    `## ${section.title}`,
    '',
    section.prose.trim(),
    '',
    renderTable(section.table),
    '',
    ...section.ratios.map((line) => `- ${line}`),
    '',
    `*${minuteOf(at)}, load average before it: ${load.toFixed(2)}.*`,
    `<!-- /${name} -->`,
  ].join('\n')
}

function renderTable({ columns, rows }: Table): string {
  const isText = columns.map((_, i) => rows.every((row) => typeof row[i] === 'string' && !/^[\d–-]/.test(row[i])))
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rule = isText.map((text) => (text ? '---' : '---:'))
  return [line(columns), `|${rule.join('|')}|`, ...rows.map((row) => line(row.map(renderCell)))].join('\n')
}

export function renderCell(cell: Cell): string {
  if (typeof cell === 'string') return cell
  if (!Number.isFinite(cell)) return '–'
  const size = Math.abs(cell)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2
  return cell.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** Written by hand, after all others. */
const PUBLISHED = 'published'

/** Writes these sections into the page, in the order of `names`; those that are not given stay as they are. */
export function writePage(names: readonly string[], rendered: ReadonlyMap<string, string>, postgres: string): void {
  const before = existsSync(FILE) ? readFileSync(FILE, 'utf8') : ''
  const sections = [...names, PUBLISHED]
    .map((name) => rendered.get(name) ?? find(before, name))
    .filter((section) => section !== null)
  writeFileSync(FILE, `${[header(postgres), ...sections].join('\n\n')}\n`)
}

function find(page: string, name: string): string | null {
  const [start, end] = [page.indexOf(`<!-- ${name} -->`), page.indexOf(`<!-- /${name} -->`)]
  return start < 0 || end < start ? null : page.slice(start, end + `<!-- /${name} -->`.length)
}

function header(postgres: string): string {
  const processors = cpus()
  const memory = (totalmem() / 2 ** 30).toFixed(0)
  const versions = PEERS.map((name) => `${name} ${versionOf(name)}`).join(', ')
  return `# Benchmarks

Written by \`npm run bench\`: every contestant of a workload is measured in the same run, on the same Postgres server and
the same kind of Redis, in turns, and medians are reported. Nothing here is a promise; run it where it matters to you:

\`\`\`sh
npm ci && npm run bench                  # everything, about half an hour
npm run bench -- tree latency            # some workloads
\`\`\`

What other systems publish of themselves is [at the end](#published-what-other-systems-say-of-themselves).

It needs a \`redis-server\`. Each contestant runs in a process of its own, with the settings that
its own documentation recommends; all of them share the machine with the databases and with the measuring processes.

**Before and after a change.** \`npm run bench -- tree latency mutation fan-out --against REF\` measures this checkout, with changes that
are not committed, against a commit: in a worktree of its own, with its own dependencies, server, client and bench, on the same Node,
Postgres and Redis. Each turn has new processes and a new database, and is warm before it counts. Turns are A B, B A, A B …, and
\`--rounds N\` says how many pairs there are (10, about half an hour for all four workloads). For each figure it prints the medians
of both, their ratio, and the median and quartiles of the ratios of each pair: quartiles on both sides of 1 are noise. It is a
report: it judges nothing, and writes nothing into this page. Ctrl-C removes worktree, processes and databases, too.
\`profile\` says what a node costs Postgres, by statement and table, and the server; \`idle\` what a server costs that nobody asks anything.
\`abuse\` is compared by its attacks, of which \`--only TEXT\` names some: \`--only honest\` those who ask for much in good faith.
With \`--against HEAD --traced 0.01\` this checkout sends traces of every hundredth request to a collector that drops them: what tracing costs.

| | |
|---|---|
| machine | ${processors.length} × ${processors[0]?.model.trim() ?? '?'}, ${memory} GB |
| Node | ${process.version} |
| Postgres | ${postgres}, \`fsync\` and \`synchronous_commit\` on, reached by its Unix socket |
| Redis | ${redisVersion()}, on loopback |
| peers | ${versions} |`
}

function versionOf(name: string): string {
  const file = join(import.meta.dirname, 'node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

const redisVersion = (): string =>
  /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))?.[1] ?? '?'

const minuteOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
