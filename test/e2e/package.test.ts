import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../mcp/mcp-client.ts'
import { freePort } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'

/** The package as somebody has it who installs it elsewhere and has nothing of this repository. */

const ROOT = join(import.meta.dirname, '../..')
const STEP_MS = 400_000
/** Folders that a fresh clone lacks, and folders that the package does not contain. */
const NOT_CLONED = ['node_modules', '.git', 'dist', '.phaseline', 'docs-dist', 'test', 'bench', 'src/store/generated']
const NOT_PASSED_ON = /^npm_(?!config_)|^npm_config_local_prefix$/

/** Variables that npm itself needs, without those of the test runner and of the npm that started it. */
const env: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      /^(HOME|TMPDIR|LANG|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|npm_config_.*|.*_proxy)$/i.test(name) &&
      !NOT_PASSED_ON.test(name) &&
      value !== undefined
        ? [[name, value] as const]
        : [],
    ),
  ),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  NO_COLOR: '1',
}

interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

let base: string
/** The folder in which the package is installed. */
let folder: string
let packed: Packed
let port: number

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}
async function run(cwd: string, command: string, args: readonly string[]): Promise<Ran> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { cwd, env: theirEnv(), timeout: STEP_MS })
    return { code: 0, out: stdout, err: stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, out: stdout, err: stderr }
  }
}
const theirEnv = () => ({
  ...env,
  // Only what the program says is read, and not what npm warns of about the machine's own npmrc.
  npm_config_loglevel: 'error',
  PORT: String(port),
  PHASELINE_URL: `http://127.0.0.1:${port}/graphql`,
  // The example's services would share one folder of the machine otherwise.
  PHASELINE_STATE: join(base, 'state'),
})
const npx = (...args: readonly string[]) => run(folder, 'npx', ['phaseline', ...args])

beforeAll(async () => {
  port = await freePort()
  base = await mkdtemp(join(tmpdir(), 'phaseline-package-'))
  // An embedded Postgres that is started by root runs as somebody else.
  await chmod(base, 0o755)
  folder = join(base, 'theirs')
  const clone = join(base, 'clone')
  await cp(ROOT, clone, {
    recursive: true,
    filter: (path) => !NOT_CLONED.includes(relative(ROOT, path)) && !path.startsWith(join(ROOT, 'web-playground/dist')),
  })
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const { code, out, err } = await run(clone, 'npm', ['pack', '--json', '--pack-destination', base])
  expect(code, err).toBe(0)
  ;[packed] = JSON.parse(out.slice(out.lastIndexOf('\n[') + 1)) as [Packed]
  const mcp = await run(clone, 'npm', ['pack', './mcp', '--silent', '--pack-destination', base])
  expect(mcp.code, mcp.err).toBe(0)
  await mkdir(folder)
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const installed = await run(folder, 'npm', [
    'install',
    ...flags,
    join(base, packed.filename),
    join(base, mcp.out.trim()),
  ])
  expect(installed.code, installed.err).toBe(0)
}, 2 * STEP_MS)

afterAll(async () => {
  // Ends the processes that a failed test left behind: all of them have this folder's name in their arguments.
  for (const { pid } of theirProcesses()) process.kill(pid, 'SIGKILL')
  await rm(base, { recursive: true, force: true })
})

function theirProcesses(): readonly { readonly pid: number; readonly args: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid: Number(pid), args: argumentsOf(pid) }))
    .filter(({ args }) => args.includes(folder))
}
function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

test('the tarball has all that runs, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path)
  for (const needed of [
    'dist/src/cli/main.js',
    'dist/src/store/generated/client.js',
    'dist/src/agents/gadget/guard-main.js',
    'dist/src/sandbox/worker.js',
    'dist/src/client/index.d.ts',
    'dist/src/manifest/index.d.ts',
    'dist/src/testing/api.d.ts',
    'web-playground/dist/index.html',
    'docs-dist/site.json',
    'docs-dist/first-agent.html.gz',
    'prisma/migrations/20261121000000_foundation/migration.sql',
    'examples/manifests/nested.yaml',
    'schema.graphql',
    'openapi.json',
    'asyncapi.json',
    'README.md',
    'LICENSE',
  ]) {
    expect(paths).toContain(needed)
  }
  // Neither sources, nor tests, nor what only somebody has who has worked here.
  const foreign = paths.filter(
    (path) =>
      (path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith('examples/init/')) ||
      /^(src|test|bench|scripts|node_modules|\.)|\.(map|tgz|log|pem|key)$|(^|\/)(\.env|\.npmrc|token|secret-key)$/.test(
        path,
      ),
  )
  expect(foreign).toEqual([])
  const executable = packed.files.filter(({ mode }) => (mode & 0o111) !== 0).map(({ path }) => path)
  expect(executable).toEqual(expect.arrayContaining(['examples/webshop/gadgets/service', 'examples/gadgets/copy-tree']))
  // Pages are compressed alone.
  expect(packed.unpackedSize).toBeLessThan(15_500_000)
  expect(packed.size).toBeLessThan(9_500_000)
})

test('npx finds the command', { timeout: STEP_MS }, async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect(await npx('--version')).toMatchObject({ code: 0, out: `${version}\n` })
  expect(await npx('--help')).toMatchObject({ code: 0, out: expect.stringContaining('serve [options]') })
})

test('an older Node is told which one is needed', async () => {
  // It has no compile cache: to import that by its name alone would fail before anything can be said.
  const older = `import { registerHooks } from 'node:module'
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } })
const url = 'data:text/javascript,export const createRequire = 1'
registerHooks({ resolve: (name, context, next) => name === 'node:module' ? { url, shortCircuit: true } : next(name, context) })`
  const main = join(folder, 'node_modules/phaseline/dist/src/cli/main.js')
  const preload = `data:text/javascript,${encodeURIComponent(older)}`
  expect(await run(folder, process.execPath, ['--import', preload, main, 'serve'])).toEqual({
    code: 2,
    out: '',
    err: 'phaseline needs Node 22.18 or newer; this is 20.11.0.\n',
  })
})

/** Every name that a user writes, with its type; it is run, too. */
const USE = `
import { readFileSync } from 'node:fs'
import { type Client, ClientError, createClient, runAgent, type WorkItem } from 'phaseline/client'
import { type Manifest, parseManifests } from 'phaseline/manifest'
import type { startTestServer, TestServer } from 'phaseline/testing'

const [url = '', token = '', file = ''] = process.argv.slice(2)
const client: Client = createClient({ url, token })
const parsed = parseManifests(readFileSync(file, 'utf8'))
const manifests: readonly Manifest[] = parsed.ok ? parsed.manifests : []
async function ask<T>(field: string, type: string, selection: string, input: object): Promise<T> {
  const document = \`mutation ($input: \${type}!) { answer: \${field}(input: $input) { __typename \${selection} } }\`
  return (await client.query<{ answer: T }>(document, { input })).answer
}
const agent = { name: 'mine', role: 'AGENT', actor: 'DEPLOYER', types: ['mine'] }
const { secret } = await ask<{ secret: string }>('createToken', 'CreateTokenInput', '... on CreatedToken { secret }', agent)
const spec = { deployItems: [{ name: 'item', type: 'mine', config: { of: manifests.map(({ name }) => name) } }] }
await ask('createInstallation', 'CreateInstallationInput', '', { name: 'mine', spec })
const done = new AbortController()
const options: Parameters<typeof runAgent>[0] = {
  client: createClient({ url, token: secret }),
  instance: 'mine-1',
  types: ['mine'],
  signal: done.signal,
  async work(item: WorkItem, { log }) {
    log('STDOUT', 'at work')
    console.log(JSON.stringify({ action: item.action, config: item.config }))
    setTimeout(() => done.abort(), 100)
    return { phase: 'SUCCEEDED', exports: {} }
  },
}
// @ts-expect-error There is no such phase.
const wrong: typeof options.work = async () => ({ phase: 'DONE_AND_DUSTED' })
await runAgent(options)
await client[Symbol.asyncDispose]()
await options.client[Symbol.asyncDispose]()
const tested: ((server: TestServer) => ReturnType<typeof startTestServer>) | null = null
if (tested !== null || wrong.name === '' || new ClientError('network', 'x').kind !== 'network') process.exitCode = 1
`
const USE_PROCESS = `declare const process: { argv: string[]; exitCode: number }
declare module 'node:fs' { export function readFileSync(path: string, encoding: 'utf8'): string }
`

test('its types are whole, also for who checks libraries and has no types of Node', { timeout: STEP_MS }, async () => {
  await writeFile(join(folder, 'use.mts'), USE)
  await writeFile(join(folder, 'node.d.ts'), USE_PROCESS)
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2022', 'dom'], types: [], module: 'nodenext', noEmit: true },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.mts', 'node.d.ts'] }))
  expect(await run(folder, join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'])).toEqual({ code: 0, out: '', err: '' })
})

test('it serves with an embedded Postgres, and all that it brings works', { timeout: 2 * STEP_MS }, async () => {
  await using stack = new AsyncDisposableStack()
  const permitted = { PHASELINE_CLONE_HOSTS: `file://${base}/`, PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8' }
  const server = spawn('npx', ['phaseline', 'serve'], {
    cwd: folder,
    env: { ...theirEnv(), ...permitted },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const ended = once(server, 'exit')
  const said = output(server)
  const isThere = () => said().includes('shop exports url')
  await until(() => isThere() || server.exitCode !== null, { what: 'the example is there', timeoutMs: STEP_MS })
  expect(said()).toContain('shop exports url')
  const [, origin = '', token = ''] = /at (http:\S+)\/#token=(\S+)/.exec(said()) ?? []
  const page = await (await fetch(`${origin}/`)).text()
  const [script = ''] = /\/assets\/[^"]+\.js/.exec(page) ?? []
  expect(page).toContain('<title>Phaseline</title>')
  expect((await fetch(origin + script)).status).toBe(200)

  const manifest = 'node_modules/phaseline/examples/manifests/nested.yaml'
  const [applied, used] = await Promise.all([
    npx('apply', '-f', manifest, '--wait'),
    run(folder, process.execPath, ['use.mts', `${origin}/graphql`, token, manifest]),
  ])
  expect(applied).toMatchObject({ code: 0, out: expect.stringContaining('platform succeeded') })
  expect(used).toMatchObject({ code: 0, out: '{"action":"RECONCILE","config":{"of":["platform"]}}\n' })

  await askMcp(token)

  // An agent of one's own, typed as the documentation says: it is written, tested, connected, works, and fails usefully.
  const [installing = [], ...typed] = commandsOf('docs/first-agent.md')
  expect(installing).toEqual(['npm install phaseline', 'npx phaseline serve --no-example'])
  const printed = new Map<string, string>()
  for (const command of typed.flat()) {
    if (command.endsWith(' start')) {
      stack.defer(startInBackground(command))
      continue
    }
    const { code, out, err } = await run(folder, 'sh', ['-c', command])
    expect([command, code, code === 0 ? '' : err]).toEqual(
      command.endsWith('# exit code 1') ? [command, 1, expect.any(String)] : [command, 0, ''],
    )
    printed.set(command, `${printed.get(command) ?? ''}${out}`)
  }
  expect(printed.get('npm --prefix greeter test')).toMatch(/pass 4\n/)
  expect(printed.get('npx phaseline get greeting')).toMatch(/exports +greeted: Hello, world![\s\S]*NO_GREETING/)
  expect(printed.get('npx phaseline logs greeting')).toContain('RECONCILE world')
  expect(printed.get('npx phaseline get --failed')).toContain('config.greeting is missing.')
  await playNightlyBuild()
  expect(await npx('init', 'greeter')).toMatchObject({ code: 2, err: expect.stringContaining('is not empty') })
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node']
  const compiled = await run(join(folder, 'greeter'), join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.', ...types])
  expect(compiled).toEqual({ code: 0, out: '', err: '' })
  await stack.disposeAsync()

  // Its services are real, and stay until it is deleted.
  expect(await npx('delete', 'shop', '--wait')).toMatchObject({ code: 0 })
  // Ctrl-C in their terminal.
  if (server.pid !== undefined) process.kill(-server.pid, 'SIGINT')
  await ended
  await until(() => theirProcesses().length === 0, { what: 'nothing of it runs any more' })
})

/** The MCP server, as a client starts it. */
async function askMcp(token: string): Promise<void> {
  const env = { ...theirEnv(), PHASELINE_TOKEN: token }
  const started = new StdioClientTransport({ command: 'npx', args: ['phaseline-mcp'], cwd: folder, env })
  await using tools = await connect(started)
  expect((await tools.call('why', { object: 'platform' })).text).toMatch(
    /^default\/platform \(installation\) SUCCEEDED for /,
  )
}

/** A new user's first hour with schedules and notifications, with a repository and a chat that are on this machine. */
async function playNightlyBuild(): Promise<void> {
  const PAGE = 'docs/how-to/nightly-build.md'
  await using chat = await openReceiver()
  const repository = join(base, 'website')
  await mkdir(repository)
  await writeFile(join(repository, 'build.sh'), 'echo building 214 pages\necho page 12 has a broken link\nexit 1\n')
  const git = ['git init -q', 'git add .', 'git -c user.name=x -c user.email=x@example.org commit -qm build']
  expect(await run(repository, 'sh', ['-c', git.join(' && ')])).toMatchObject({ code: 0 })
  for (const [, file = '', manifest = ''] of readFileSync(join(ROOT, PAGE), 'utf8').matchAll(
    /^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm,
  ))
    await writeFile(join(folder, file), manifest.replace('https://github.com/acme/website.git', `file://${repository}`))
  await writeFile(join(folder, 'url.txt'), chat.url)

  const [[install, serve] = [], ...typed] = commandsOf(PAGE)
  expect([install, serve]).toEqual([
    'npm install phaseline',
    'PHASELINE_CLONE_HOSTS=github.com npx phaseline serve --no-example',
  ])
  for (const command of typed.flat()) {
    const { code, out, err } = await run(folder, 'sh', ['-c', command])
    expect([command, code, code === 0 ? '' : err]).toEqual([command, 0, ''])
    if (command.includes(' fire ')) {
      await until(() => chat.texts().length === 2, { what: 'the chat hears of the failure' })
      expect(chat.texts()).toEqual([
        'admin tries the rule failures. It works.',
        'Event website/event-1 is FAILED: It ended with exit code 1.',
      ])
    }
    if (command.includes(' schedule get ')) expect(out).toContain('website/event-1 FAILED')
    if (command.includes(' logs ')) expect(out).toBe('building 214 pages\npage 12 has a broken link\n')
  }
}

/** A chat that takes what is posted there. */
async function openReceiver() {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    bodies.push(await text(request))
    response.end('ok')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/website`,
    texts: () => bodies.map((body) => (JSON.parse(body) as { text: string }).text),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The lines of each piece of shell in a document. */
const commandsOf = (document: string): readonly (readonly string[])[] =>
  [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) =>
    text.trim().split('\n'),
  )

/** In a terminal of its own, until Ctrl-C. */
function startInBackground(command: string): () => void {
  const { pid } = spawn('sh', ['-c', command], { cwd: folder, env: theirEnv(), stdio: 'ignore', detached: true })
  return () => {
    if (pid !== undefined) process.kill(-pid, 'SIGINT')
  }
}

function output(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
  }
  return () => text
}
