import type { SourceFile } from './source-file.ts'

/** Lines that must stand in two places, one after the other, before they count as one idea written twice. */
const RUN = 6
/** A shape that stands in more places is a form of the language or of a library. */
const MOST_PLACES = 8
/** A run of fewer different shapes is a list. */
const FEWEST_SHAPES = 4

interface Line {
  readonly number: number
  readonly shape: string
}

/** The line without names, numbers and texts; null: it is empty, a comment, an import, or has nothing but brackets. */
function shapeOf(text: string): string | null {
  const line = text.trim()
  if (/^(\/\/|\/\*|\*|import |export .* from |[)\]}>,;(]*$)/.test(line)) return null
  return line.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, 't').replace(/\w+/g, (word) => (KEYWORDS.has(word) ? word : 'n'))
}
const KEYWORDS = new Set(
  'async await break case catch const continue default else export extends for function if in new null of return static switch this throw try type undefined while yield'.split(
    ' ',
  ),
)

const linesOf = ({ text }: SourceFile): readonly Line[] =>
  text.split('\n').flatMap((line, i) => {
    const shape = shapeOf(line)
    return shape === null ? [] : [{ number: i + 1, shape }]
  })

export interface Repeats {
  /** Lines that are part of a run that stands elsewhere too. */
  readonly lines: number
  /** Pairs of files with their repeated lines, the most first. */
  readonly pairs: readonly (readonly [string, number])[]
}

/** Runs of lines of the same shape in two places. */
export function repeatsOf(files: readonly SourceFile[]): Repeats {
  const places = new Map<string, { readonly path: string; readonly lines: readonly number[] }[]>()
  for (const file of files) {
    const lines = linesOf(file)
    for (let i = 0; i + RUN <= lines.length; i++) {
      const run = lines.slice(i, i + RUN)
      if (new Set(run.map(({ shape }) => shape)).size < FEWEST_SHAPES) continue
      const key = run.map(({ shape }) => shape).join('\n')
      const place = { path: file.path, lines: run.map(({ number }) => number) }
      places.set(key, [...(places.get(key) ?? []), place])
    }
  }
  const repeated = new Set<string>()
  const pairs = new Map<string, Set<number>>()
  for (const found of places.values()) {
    if (found.length < 2 || found.length > MOST_PLACES) continue
    for (const { path, lines } of found) for (const line of lines) repeated.add(`${path}:${line}`)
    const [first, ...others] = found
    for (const { path } of others) {
      const key = first?.path === path ? `${path}, in itself` : `${first?.path} ~ ${path}`
      const lines = pairs.get(key) ?? new Set()
      for (const line of first?.lines ?? []) lines.add(line)
      pairs.set(key, lines)
    }
  }
  const byLines = [...pairs].map(([pair, lines]) => [pair, lines.size] as const).toSorted(([, a], [, b]) => b - a)
  return { lines: repeated.size, pairs: byLines }
}

/** Names that are declared in more files than one, the most common first. */
export function repeatedNames(files: readonly SourceFile[]): readonly (readonly [string, number])[] {
  const found = new Map<string, Set<string>>()
  for (const { path, names } of files)
    for (const name of names) found.set(name, (found.get(name) ?? new Set<string>()).add(path))
  return [...found]
    .map(([name, paths]) => [name, paths.size] as const)
    .filter(([, count]) => count > 1)
    .toSorted(([, a], [, b]) => b - a)
}

/** Folders by the files that lie in them, not in their own folders. */
export const folderSizes = (files: readonly SourceFile[]): readonly (readonly [string, number])[] =>
  [...Map.groupBy(files, ({ path }) => path.slice(0, path.lastIndexOf('/')))]
    .map(([folder, all]) => [folder, all.length] as const)
    .toSorted(([, a], [, b]) => b - a)
