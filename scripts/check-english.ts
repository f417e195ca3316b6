import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Checks the parts of house style that a program can check: comments, texts that people read in a terminal, an error or a page, descriptions of
 * the schema and documents have a subject first, use none of the phrases below, and sentences of documents have at most 40 words. Prints file:line and the reason for each violation.
 */

const ROOT = join(import.meta.dirname, '..')
const CODE = [
  'src/**/*.{ts,tsx}',
  'mcp/src/**/*.ts',
  'web-playground/src/**/*.{ts,tsx,css}',
  '{test,bench,scripts,examples}/**/*.{ts,tsx,mjs}',
]
const WITH_TEXTS = ['src/**/*.ts', 'mcp/src/**/*.ts', 'web-playground/src/**/*.{ts,tsx}']
/** Generated code, and measurements, which record their time. */
const LEFT_OUT = /(?:^|\/)(?:generated|node_modules|benchmarks\.md)$/
const DOCUMENTS = ['{README,ARCHITECTURE,CONTRIBUTING,SECURITY}.md', '{docs,examples,test,clients}/**/*.md']
const MAX_WORDS = 40
const FUSED = /^(?:What|Whatever|Of|Whether|Where|Who|Whoever|Whom|Whose|Those|Which)\b(?!.*\?$)/
const PHRASES = /\b(?:(?:is|are|was|were|be) told|(?:is|are|was|were|be) asked for|go(?:es)? on|looks? at|comes? to)\b/

interface Passage {
  readonly line: number
  readonly text: string
}

/** Blocks of comments, without their marks. A directive for a tool is not prose. */
function commentsOf(source: string): readonly Passage[] {
  const blocks = source.matchAll(/^[ \t]*\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*/gm)
  return [...blocks].flatMap(({ 0: block, index }) => {
    const text = block
      .replaceAll(/^\s*(?:\/\*\*?|\/\/|\*(?!\/))|\*\/\s*$/gm, '')
      .replaceAll(/^\s*biome-ignore.*$/gm, '')
    return paragraphsOf(text, lineOf(source, index))
  })
}

/** String literals and texts of elements that are sentences, or parts of them. Statements and documents begin with a keyword. */
function textsOf(source: string): readonly Passage[] {
  const literals = source.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|>([^<>{}=;]+)</g)
  return [...literals].flatMap(({ 1: quoted, 2: template, 3: element, index }) => {
    const text = (quoted ?? template ?? element ?? '')
      .replaceAll(/\$\{[^}]*\}/g, 'x')
      .replaceAll(/\s+/g, ' ')
      .trim()
    const isTitle = FUSED.test(text) && !/[.:]$/.test(text)
    const isProse = text.split(' ').length >= MIN_WORDS && !NOT_PROSE.test(text) && !isTitle
    return isProse ? [{ line: lineOf(source, index), text }] : []
  })
}
const MIN_WORDS = 4
const NOT_PROSE = /^(?:select|insert|with|update|delete|create|query|mutation|subscription|fragment)\b/

/** Descriptions of the schema. */
const descriptionsOf = (schema: string): readonly Passage[] =>
  [...schema.matchAll(/"""([\s\S]*?)"""/g)].flatMap(({ 1: text = '', index }) =>
    paragraphsOf(text, lineOf(schema, index)),
  )

/** Paragraphs, entries of lists and cells of tables. Code and generated parts are left out. */
function passagesOf(document: string): readonly Passage[] {
  const blank = (part: string): string => part.replaceAll(/[^\n]/g, '')
  const prose = document
    .replaceAll(/```[\s\S]*?```/g, blank)
    .replaceAll(/<!-- [\w ]+: written by[\s\S]*?<!-- end of/g, blank)
    .replaceAll(/<[^>]*>/g, blank)
  return paragraphsOf(prose.replaceAll(/^#.*$/gm, ''), 1).flatMap(({ line, text }) =>
    text.startsWith('|') ? text.split('|').map((cell) => ({ line, text: cell.trim() })) : [{ line, text }],
  )
}

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length

function paragraphsOf(text: string, from: number): readonly Passage[] {
  const starts = /\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |\||@))/
  let at = 0
  return text.split(starts).map((part) => {
    const index = text.indexOf(part, at)
    at = index + part.length
    const blanks = /^\s*/.exec(part)?.[0].length ?? 0
    return {
      line: from + lineOf(text, index + blanks) - 1,
      text: part
        .replaceAll(/\s+/g, ' ')
        .trim()
        .replace(/^(?:[-*]|\d+\.|@\w+) /, ''),
    }
  })
}

const sentencesOf = (text: string): readonly string[] => text.split(/(?<=[.!?:;]\*{0,2}) +(?=[A-Z`*[])/)

function problemOf(sentence: string, maxWords: number): string | null {
  const plain = sentence.replaceAll(/`[^`]*`/g, 'x').replaceAll(/\]\([^)]*\)|[*_[\]]/g, '')
  if (FUSED.test(plain)) return 'begins without a subject'
  const [phrase] = PHRASES.exec(plain) ?? []
  if (phrase) return `says "${phrase}"`
  const words = plain.split(' ').length
  return words > maxWords ? `has ${words} words` : null
}

const judge = (pattern: string, read: (text: string) => readonly Passage[], maxWords: number): readonly string[] =>
  globSync(pattern, { cwd: ROOT, exclude: (path) => LEFT_OUT.test(path) }).flatMap((file) =>
    read(readFileSync(join(ROOT, file), 'utf8')).flatMap(({ line, text }) =>
      sentencesOf(text).flatMap((sentence) => {
        const problem = problemOf(sentence, maxWords)
        return problem ? [`${file}:${line}: a sentence ${problem}: ${sentence.slice(0, 80)}`] : []
      }),
    ),
  )

const problems = [
  ...CODE.flatMap((pattern) => judge(pattern, commentsOf, Number.POSITIVE_INFINITY)),
  ...WITH_TEXTS.flatMap((pattern) => judge(pattern, textsOf, Number.POSITIVE_INFINITY)),
  ...judge('schema.graphql', descriptionsOf, Number.POSITIVE_INFINITY),
  ...DOCUMENTS.flatMap((file) => judge(file, passagesOf, MAX_WORDS)),
]
if (problems.length > 0) {
  process.stderr.write(
    `${problems.join('\n')}\nCONTRIBUTING.md (Rules of the house) says how comments and documents read.\n`,
  )
  process.exitCode = 1
}
