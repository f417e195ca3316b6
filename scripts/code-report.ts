import { globSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { importCircles } from '../test/import-circles.ts'
import { folderSizes, repeatedNames, repeatsOf } from './repeated-ideas.ts'
import { type Import, type Part, readSource, type SourceFile } from './source-file.ts'

/**
 * Prints how long files and named functions are, what is written more than once, which imports go in circles, and which files name a family outside its
 * folder: of the server, the dashboard and the tests. Fails if a file of server or dashboard names one.
 */

const HOME = join(import.meta.dirname, '..')
const ROOTS = ['src', 'mcp/src', 'web-playground/src', 'test']
const FAMILIES = readdirSync(join(HOME, 'src/families'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
/** Files that may name families, with the reason. */
const MAY_NAME: Readonly<Record<string, string>> = {
  'src/families/index.ts': 'it is the list of families',
  'web-playground/src/families/index.ts': 'it is the list of what the dashboard has for families',
  'src/agents/kubernetes/paths.ts': 'deployments are a kind of Kubernetes, too',
  'src/client/index.ts': 'it is the list of what the package publishes',
  'src/store/held-up-tickets.ts': 'objects of all families may ask for limits',
  'src/store/limit-names.ts': 'objects of all families may ask for limits',
  'src/store/tables.ts': 'it is printed from schema.prisma, which has the tables of all families',
}
/** How many of the longest are shown. */
const LONGEST = 5

function printSizes(title: string, parts: readonly Part[]): void {
  const sorted = parts.toSorted((a, b) => a.lines - b.lines)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]?.lines ?? 0
  console.log(`${title}: ${parts.length}, lines: median ${at(0.5)}, p95 ${at(0.95)}, longest ${at(1)}`)
  for (const { location, lines } of sorted.slice(-LONGEST).reverse())
    console.log(`  ${String(lines).padStart(4)}  ${location}`)
}

/** One idea is better written once. The list names candidates: code that only looks alike stays. */
function printIdeas(files: readonly SourceFile[]): void {
  const first = (all: readonly (readonly [string, number])[]) => {
    for (const [name, count] of all.slice(0, LONGEST)) console.log(`  ${String(count).padStart(4)}  ${name}`)
  }
  const { lines, pairs } = repeatsOf(files)
  console.log(`Lines of a shape that stands elsewhere too: ${lines}, in ${pairs.length} pairs of files`)
  first(pairs)
  const names = repeatedNames(files)
  console.log(`Names of types and functions that more than one file declares: ${names.length}`)
  first(names)
  const folders = folderSizes(files)
  console.log(
    `Folders: ${folders.length}, with more than 20 files: ${folders.filter(([, count]) => count > 20).length}`,
  )
  first(folders)
}

const circlesOf = (imports: readonly Import[]) =>
  importCircles(
    new Map(
      Map.groupBy(imports, ({ from }) => from)
        .entries()
        .map(([file, all]) => [file, all.map(({ to }) => to)]),
    ),
  )

function printCircles(imports: readonly Import[]): void {
  const circles = circlesOf(imports.filter(({ isType }) => !isType))
  const withTypes = circlesOf(imports).filter((circle) => !circles.some((other) => other.join() === circle.join()))
  console.log(`Circles of imports: ${circles.length}, and ${withTypes.length} of types`)
  for (const circle of [...circles, ...withTypes]) console.log(`        ${circle.join(' ⇄ ')}`)
}

/** An edge of a graph, or of a connection; the flow of a graph, or of YAML. */
const GRAPH_WORDS = ['edge', 'edgeTypes', 'flow']

/** `deployments`, `deploymentsGraphql`, `data/deployments.ts`, `/deployments?…`; not a sentence with the word in it. */
function names(word: string, family: string): boolean {
  if (GRAPH_WORDS.includes(word) || /\s/.test(word)) return false
  // The folder's owner counts; the file's own name does not.
  const [ownFolder] = /.*\bfamilies\/\w+\//.exec(word) ?? [word]
  return new RegExp(`(^|[/|(])${family}(?=$|[/|).?]|[A-Z])`).test(ownFolder)
}

function printFamilies(files: readonly SourceFile[]): void {
  for (const family of FAMILIES) {
    const outside = files.filter(
      ({ path, words }) =>
        !path.includes(`families/${family}/`) && [path, ...words].some((word) => names(word, family)),
    )
    const counted = outside.filter(({ path }) => !MAY_NAME[path])
    console.log(`Files that name ${family} outside its folder: ${counted.length}`)
    if (counted.some(({ path }) => !path.startsWith('test/'))) process.exitCode = 1
    for (const { path } of counted) console.log(`        ${path}`)
    for (const { path } of outside)
      if (MAY_NAME[path]) console.log(`        not counted: ${path}, since ${MAY_NAME[path]}`)
  }
}

for (const root of ROOTS) {
  const paths = globSync(`${root}/**/*.{ts,tsx}`, { cwd: HOME, exclude: ['**/generated/**'] })
  const files = paths.toSorted().map(readSource)
  console.log(`\n${root}\n`)
  printSizes(
    'Files',
    files.map(({ path, lines }) => ({ location: path, lines })),
  )
  printSizes(
    'Functions with a name',
    files.flatMap(({ functions }) => functions),
  )
  printIdeas(files)
  printCircles(files.flatMap(({ imports }) => imports))
  printFamilies(files)
}
