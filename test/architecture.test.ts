import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { importCircles } from './import-circles.ts'
import { LAYERS, layerOf } from './layers.ts'

const ROOT = join(import.meta.dirname, '..')
const SRC = join(ROOT, 'src')

/** Packages that a layer must not touch; core touches none at all. */
const NO_PACKAGES = new Set(['core', 'client-model', 'families/pure', 'projects/pure', 'hooks/pure'])

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !file.startsWith('store/generated'),
  )
const files = filesOf(SRC)

const familyOf = (file: string): string | null => (file.startsWith('families/') ? (file.split('/')[1] ?? null) : null)

const imports = files.flatMap((file) => importsOf(SRC, file))

function importsOf(folder: string, file: string) {
  const text = readFileSync(join(folder, file), 'utf8')
  const found = text.matchAll(/^(?:import|export)\b[^'"`]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm)
  return [...found].map(([statement, from, bare, dynamic]) => ({
    file,
    to: from ?? bare ?? dynamic ?? '',
    /** It loads the file with its own: no type, and no import at a later time. */
    isLoaded: dynamic === undefined && !/^(import|export) type\b/.test(statement),
    isDynamic: dynamic !== undefined,
  }))
}
const inner = imports
  .filter(({ to }) => to.startsWith('.'))
  .map(({ to, ...one }) => ({ ...one, to: relative(SRC, join(SRC, dirname(one.file), to)) }))

/** Entry points, which start a process and belong to no layer. */
const COMPOSITION = new Set(['main', 'serve', 'start', 'example', 'testing'])

test('every layer imports only what the table allows', () => {
  const wrong = inner.filter(({ file, to }) => {
    const layer = layerOf(file)
    if (COMPOSITION.has(layer) || to.startsWith('store/generated') || to === '../package.json') return false
    const target = layerOf(to)
    return target !== layer && !LAYERS[layer]?.mayImport.includes(target)
  })
  expect(wrong.map(({ file, to }) => `${file} → ${to}`)).toEqual([])
})

test.each(['src', 'test', 'web-playground/src'])(
  'no files of %s import each other in a circle, types included',
  (name) => {
    const folder = join(ROOT, name)
    const found = filesOf(folder).map(
      (file) => [file, importsOf(folder, file).map(({ to }) => join(dirname(file), to))] as const,
    )
    expect(found.length).toBeGreaterThan(150)
    expect(importCircles(new Map(found))).toEqual([])
  },
)

test('the search for circles finds one that is there', () => {
  expect(importCircles(new Map(Object.entries({ a: ['b'], b: ['c'], c: ['b'], d: ['a'] })))).toEqual([['b', 'c']])
})

test('the table allows only what is there', () => {
  const seen = Map.groupBy(inner, ({ file }) => layerOf(file))
  const unused = Object.entries(LAYERS).flatMap(([layer, { mayImport }]) =>
    mayImport
      .filter((other) => !seen.get(layer)?.some(({ to }) => layerOf(to) === other))
      .map((other) => `${layer} → ${other}`),
  )
  expect(unused).toEqual([])
})

test('the MCP server is a package of its own: it imports what phaseline publishes, and nothing else of ours', () => {
  const home = join(ROOT, 'mcp/src')
  const own = filesOf(home).flatMap((file) => importsOf(home, file))
  const outside = own.filter(
    ({ file, to }) => to.startsWith('.') && relative(home, join(home, dirname(file), to)).startsWith('..'),
  )
  expect(outside.map(({ to }) => to)).toEqual(['../package.json'])
  const [ours, { version, dependencies }] = ['.', 'mcp'].map((folder) =>
    JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')),
  )
  expect([version, dependencies.phaseline]).toEqual([ours.version, ours.version])
  const packages = own.filter(({ to }) => !/^(\.|node:)/.test(to)).map(({ to }) => to)
  const published = ['phaseline/client', 'phaseline/client-model', 'phaseline/manifest']
  expect([...new Set(packages.filter((to) => to.startsWith('phaseline')))].toSorted()).toEqual(published)
  const names = packages.map((to) =>
    to.startsWith('@') ? to.split('/').slice(0, 2).join('/') : (to.split('/')[0] ?? ''),
  )
  expect([...new Set(names)].toSorted()).toEqual(Object.keys(dependencies).toSorted())
  expect(imports.filter(({ to }) => to.includes('modelcontextprotocol'))).toEqual([])
})

test('no two rooms of the server import each other', () => {
  const roomOf = (path: string): string => path.split('/').slice(1, -1).join('/')
  const ways = inner
    .filter(({ file, to }) => file.startsWith('server/') && to.startsWith('server/') && roomOf(file) !== roomOf(to))
    .map(({ file, to }) => [roomOf(file), roomOf(to)] as const)
  expect(ways.length).toBeGreaterThan(50)
  expect(ways.filter(([from, to]) => ways.some((other) => other[0] === to && other[1] === from))).toEqual([])
})

test('only the store knows how a claim is stored', () => {
  const knows = files.filter((file) =>
    /\b(from|join|update|into) work\b|\btable\.work\b/.test(readFileSync(join(SRC, file), 'utf8')),
  )
  expect(knows.filter((file) => !file.startsWith('store/'))).toEqual([])
  expect(knows.length).toBeGreaterThan(3)
})

const isOfCli = (file: string) => /^(families\/)?cli(\/|$)/.test(layerOf(file))

test('the command line writes to a terminal in one place, which cleans what it writes', () => {
  const writing = files.filter(
    (file) => isOfCli(file) && /\b(stdout|stderr|out|err)\.write\(/.test(readFileSync(join(SRC, file), 'utf8')),
  )
  // The other two run before, and after, there is anything to print of others.
  expect(writing.toSorted()).toEqual(['cli/main.ts', 'cli/run-process.ts', 'cli/terminal/io.ts'])
})

test('the command line reads pages of lists in one place, so that the server selects what is listed', () => {
  const reading = files.filter((file) => isOfCli(file) && /\breadPages\b/.test(readFileSync(join(SRC, file), 'utf8')))
  expect(reading).toEqual(['cli/list.ts'])
})

test('a family never imports another family', () => {
  const wrong = inner.filter(({ file, to }) => {
    const [from, into] = [familyOf(file), familyOf(to)]
    return from && into && from !== into && !into.endsWith('.ts') && !from.endsWith('.ts')
  })
  expect(wrong).toEqual([])
})

/** These files and all that they load. */
function loadedFiles(entries: readonly string[]): ReadonlySet<string> {
  const loaded = new Set(entries)
  for (const file of loaded) for (const one of inner) if (one.file === file && one.isLoaded) loaded.add(one.to)
  loaded.delete('../package.json')
  return loaded
}
const loadedLayers = (entries: readonly string[]): ReadonlySet<string> =>
  new Set([...loadedFiles(entries)].map(layerOf))
const filesOfFamilies = (name: string) => files.filter((file) => new RegExp(`^families/\\w+/${name}$`).test(file))

/** They list commands, and load one when it is used. */
const tablesOfCommands = ['cli/commands/index.ts', ...filesOfFamilies('cli/index.ts')]

test('the command line loads nothing of the server before it serves', () => {
  const commands = inner.filter(({ file, isDynamic }) => isDynamic && tablesOfCommands.includes(file))
  const loaded = loadedLayers(['cli/run.ts', 'cli/explain.ts', ...commands.map(({ to }) => to)])
  const allowed = [
    'cli',
    'cli/parts',
    'core',
    'documents',
    'client',
    'client-model',
    'manifest',
    'chain-hash',
    'process',
    'seal',
    'sign-in',
    'tracing',
  ]
  const families = ['index', 'definition', 'port', 'pure', 'cli', 'protocol'].map((part) => `families/${part}`)
  expect(loaded.difference(new Set([...allowed, ...families]))).toEqual(new Set())
  expect(loaded).toContain('families/cli')
})

test('the command line starts with the tables of its commands, and loads nothing for them before they are used', () => {
  const loaded = loadedFiles(['cli/run.ts', ...filesOfFamilies('cli/index.ts')])
  expect(loaded).toContain('cli/commands/index.ts')
  expect([...loaded].filter((file) => /^(client|manifest|sign-in|documents)\//.test(file))).toEqual([])
  const isPackage = (to: string) => !/^(\.|node:)/.test(to)
  const packages = imports.filter(({ file, to, isLoaded }) => isLoaded && isPackage(to) && loaded.has(file))
  expect(new Set(packages.map(({ to }) => to))).toEqual(new Set(['commander']))
})

test('the server loads nothing of the command line', () => {
  const loaded = loadedLayers(['serve.ts', ...filesOfFamilies('server.ts')])
  expect(loaded.intersection(new Set(['cli', 'cli/parts', 'families/cli']))).toEqual(new Set())
  expect(loaded).toContain('families')
})

test('the server, and agents that need none, load no client of a cluster or an engine', () => {
  const loaded = loadedFiles([
    'serve.ts',
    'agents/main.ts',
    ...filesOfFamilies('server.ts'),
    ...filesOfFamilies('agents/index.ts'),
  ])
  const heavy = imports.filter(({ to, isLoaded }) => isLoaded && /^(@kubernetes\/|dockerode)/.test(to))
  expect(heavy.length).toBeGreaterThan(2)
  expect(heavy.filter(({ file }) => loaded.has(file))).toEqual([])
})

test('pure files use no package, no node module, no clock and no randomness', () => {
  const pure = files.filter((file) => NO_PACKAGES.has(layerOf(file)))
  // croner computes the times of a line of cron from what it is given, and does nothing else here.
  const packages = imports.filter(({ file, to }) => pure.includes(file) && !to.startsWith('.') && to !== 'croner')
  expect(packages.map(({ file, to }) => `${file} → ${to}`)).toEqual([])
  const hidden = pure.filter((file) =>
    /Date\.now\(|new Date\(\)|Math\.random\(|process\.\w/.test(readFileSync(join(SRC, file), 'utf8')),
  )
  expect(hidden).toEqual([])
})

test('the engine knows no family by name', () => {
  const families = readdirSync(join(SRC, 'families'), { withFileTypes: true }).filter((e) => e.isDirectory())
  const names = new RegExp(
    `\\b(${[...families.map((e) => e.name), 'INSTALLATION', 'DEPLOY_ITEM', 'EXECUTION'].join('|')})\\b`,
  )
  const engine = files.filter((file) => layerOf(file) === 'engine')
  expect(engine.filter((file) => names.test(readFileSync(join(SRC, file), 'utf8')))).toEqual([])
})

test('an agent never touches the store', () => {
  const isAgent = ({ file }: { readonly file: string }) => /(^|\/)agents(\/parts)?$/.test(layerOf(file))
  const wrong = imports.filter(({ file, to }) => isAgent({ file }) && /^(pg|@prisma\/.*|prisma)$/.test(to))
  expect(wrong).toEqual([])
  const loaded = loadedLayers(['agents/main.ts', ...filesOfFamilies('agents/index.ts')])
  const agents = ['agents', 'agents/parts', 'core', 'documents', 'client', 'process', 'tracing']
  const families = ['index', 'definition', 'port', 'pure', 'agents', 'protocol'].map((part) => `families/${part}`)
  expect(loaded.difference(new Set([...agents, ...families]))).toEqual(new Set())
})

test('manifests are read with a parser and a schema, and with nothing that a browser has not', () => {
  const packages = imports.filter(({ file, to }) => layerOf(file) === 'manifest' && !to.startsWith('.'))
  expect(new Set(packages.map(({ to }) => to))).toEqual(new Set(['yaml', 'zod']))
})

test('the search for imports finds those that are known to be there', () => {
  const seen = new Set(inner.map(({ file, to }) => `${layerOf(file)} → ${layerOf(to)}`))
  const expected = [
    'families/pure → core',
    'families → store',
    'engine → store',
    'engine → families/port',
    'engine → log',
    'cli/parts → client',
    'cli/parts → manifest',
    'cli → families/index',
    'families/cli → cli/parts',
  ]
  expect(expected.filter((edge) => !seen.has(edge))).toEqual([])
  expect(inner.length).toBeGreaterThan(150)
})

test('the dashboard formats times in one place, so that all of them are by the 24-hour clock', () => {
  const home = join(ROOT, 'web-playground/src')
  const formats = filesOf(home).filter((file) =>
    /toLocale(Time|Date)String\(|toLocaleString\(\)|Intl\.DateTimeFormat/.test(readFileSync(join(home, file), 'utf8')),
  )
  expect(formats.sort()).toEqual(['ui/exact-time.ts', 'ui/ticks.ts'])
})

test('the dashboard uses the public API only: its own files, packages, and what is published', () => {
  const home = join(ROOT, 'web-playground/src')
  const own = filesOf(home)
  const all = own.flatMap((file) => importsOf(home, file))
  const outside = all.filter(
    ({ file, to }) => to.startsWith('.') && relative(home, join(home, dirname(file), to)).startsWith('..'),
  )
  expect(outside.map(({ file, to }) => `${file} → ${to}`)).toEqual([])
  const packages = new Set(all.filter(({ to }) => !to.startsWith('.')).map(({ to }) => to))
  expect([...packages].filter((name) => name.startsWith('node:') || /^(graphql|pg|@prisma)/.test(name))).toEqual([])
  expect([...packages].filter((name) => name.startsWith('phaseline/') && !/\.\w+\?raw$/.test(name)).sort()).toEqual([
    'phaseline/client',
    'phaseline/client-model',
    'phaseline/manifest',
    'phaseline/sign-in',
  ])
  // Code without a screen is pure, so it is tested without a browser.
  const PURE = new Set(['phaseline/client', 'phaseline/client-model', 'phaseline/manifest', 'phaseline/sign-in'])
  const isModel = (file: string) => /(^|\/)model\//.test(file)
  const impure = all.filter(
    ({ file, to }) => isModel(file) && !PURE.has(to) && !(to.startsWith('.') && isModel(join(dirname(file), to))),
  )
  expect(impure).toEqual([])
  // Other folders reach a family's code through its index.
  const families = readdirSync(join(home, 'families'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const into = all.filter(({ file, to }) => {
    const [, family] = /^families\/(\w+)\//.exec(join(dirname(file), to)) ?? []
    return family && !file.startsWith(`families/${family}/`) && file !== 'families/index.ts'
  })
  expect(into.map(({ file, to }) => `${file} → ${to}`)).toEqual([])
  expect(families.length).toBeGreaterThan(3)
})
