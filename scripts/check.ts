import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'

/**
 * Runs every check that needs no server: format, lint, types, dead code, generated files, names of families. The steps run
 * in parallel, the long ones first. A step's output is printed only when it fails.
 */

const ROOT = join(import.meta.dirname, '..')
const CACHE = 'node_modules/.cache/tsc'
// Unchanged files are not checked again.
const tsc = (project: string, name: string, ...more: readonly string[]): string =>
  ['tsc -p', project, '--incremental --tsBuildInfoFile', `${CACHE}/${name}.tsbuildinfo`, ...more].join(' ')

// Types need the documents' types, which are not committed.
const FIRST = ['node scripts/print-documents.ts --check']
const STEPS = [
  tsc('.', 'all'),
  'biome ci .',
  'knip',
  tsc('web-playground', 'web-playground'),
  tsc('docs', 'docs'),
  'eslint schema.graphql',
  'node scripts/code-report.ts',
  'tsc -p tsconfig.types.json --noEmit',
  'node scripts/check-packages.ts',
  'node scripts/check-english.ts',
  'node scripts/check-schema-changes.ts',
  ...[
    'tables',
    'schema',
    'openapi',
    'asyncapi',
    'machines',
    'guard',
    'layers',
    'limits',
    'metrics',
    'health',
    'rights',
    'conformance',
    'clients',
    'own-documents',
  ].map((what) => `node scripts/print-${what}.ts --check`),
]

interface Ended {
  readonly ok: boolean
  readonly output: string
}
function run(command: string): Promise<Ended> {
  const [program = '', ...args] = command.split(' ')
  const env = {
    ...process.env,
    PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/phaseline'),
  }
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ ok: false, output: message }))
    child.once('close', (code) => resolve({ ok: code === 0, output }))
  })
}

async function perform(steps: readonly string[]): Promise<void> {
  const waiting = [...steps]
  const lane = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const begun = performance.now()
      const { ok, output } = await run(step)
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
      process.stdout.write(`${ok ? '✓' : '✗'} ${step} (${seconds} s)\n${ok ? '' : output}`)
      if (!ok) process.exitCode = 1
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, lane))
}

await perform(FIRST)
await perform(STEPS)
