import { LineCounter } from 'yaml'
import type { z } from 'zod'
import { similarTo } from '../core/similar.ts'
import { fieldNames } from './json-schema.ts'
import { offsetOf, offsetOfKey, type Place, placeAt } from './place.ts'
import { type Doc, readYaml } from './read-yaml.ts'

/** A problem in a file, and its place. */
export interface ManifestProblem extends Partial<Place> {
  readonly path: string
  readonly message: string
}
export type ReadDocument<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

export interface WantedDocument<T> {
  readonly schema: z.ZodType<T>
  /** e.g. `a task`. */
  readonly what: string
}

/** Reads one YAML document, or JSON, which is YAML too. Every problem is reported, with its place. */
export const readDocument = <T>(text: string, wanted: WantedDocument<T>): ReadDocument<T> =>
  unlessTooDeep(() => read(text, wanted))

function read<T>(text: string, { schema, what }: WantedDocument<T>): ReadDocument<T> {
  const lines = new LineCounter()
  const document = readYaml(text, lines)
  const [error] = document.errors
  if (error?.code === 'MULTIPLE_DOCS') {
    const message = `It holds several documents: ${what} is one.`
    return { ok: false, problems: [{ path: '', message, ...placeAt(lines, error.pos[0]) }] }
  }
  if (document.errors.length === 0 && document.contents === null)
    return { ok: false, problems: [{ path: '', message: 'It holds no document.' }] }
  return judgeDocument(document, lines, schema)
}

const TOO_DEEP = 'It is nested too deep.'
const STACK_OVERFLOW = /^Maximum call stack/

/** The functions that walk a document, the parser among them, are recursive, so a deep one overflows the stack. */
export function unlessTooDeep<T>(
  reading: () => T,
): T | { readonly ok: false; readonly problems: readonly ManifestProblem[] } {
  try {
    return reading()
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, problems: [{ path: '', message: TOO_DEEP }] }
    throw error
  }
}

/** The only document of the text, parsed by the schema. */
export const judgeDocument = <T>(document: Doc, lines: LineCounter, schema: z.ZodType<T>): ReadDocument<T> =>
  unlessTooDeep(() => judge(document, lines, schema))

function judge<T>(document: Doc, lines: LineCounter, schema: z.ZodType<T>): ReadDocument<T> {
  const contents = readContents(document, lines)
  if (!contents.ok) return contents
  const { success, data, error } = schema.safeParse(contents.value)
  if (success) return { ok: true, value: data }
  const namesAt = fieldNames(schema)
  return {
    ok: false,
    problems: error.issues.map((issue) => {
      const [key] = issue.code === 'unrecognized_keys' ? issue.keys : []
      const offset =
        (key === undefined ? undefined : offsetOfKey(document, issue.path, key)) ?? offsetOf(document, issue.path)
      const place = offset === undefined ? {} : placeAt(lines, offset)
      const hint = key === undefined ? '' : hintFor(key, namesAt(issue.path))
      return { path: issue.path.join('.'), message: wordsOf(issue.message) + hint, ...place }
    }),
  }
}

const hintFor = (key: string, names: readonly string[]): string => {
  const similar = similarTo(key, names)
  return similar.length > 0 ? `. Did you mean ${similar.join(', or ')}?` : ''
}

const TYPE = /^Invalid input: expected (\w+), received (\w+)$/
function wordsOf(message: string): string {
  const [, expected = '', received] = TYPE.exec(message) ?? []
  if (received === undefined) return message
  return received === 'undefined' ? 'is missing' : `must be ${withArticle(expected)}, not ${withArticle(received)}`
}
const withArticle = (word: string): string => (word === 'null' ? word : `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`)

function readContents(document: Doc, lines: LineCounter): ReadDocument<unknown> {
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ code, message, pos }) => ({
      path: '',
      message: code === 'RESOURCE_EXHAUSTION' || STACK_OVERFLOW.test(message) ? TOO_DEEP : message,
      ...placeAt(lines, pos[0]),
    }))
    return { ok: false, problems }
  }
  try {
    return { ok: true, value: document.toJS() }
  } catch (error) {
    if (error instanceof RangeError) throw error
    // A value that is merged and is no map fails only here.
    return { ok: false, problems: [{ path: '', message: error instanceof Error ? error.message : 'cannot be read' }] }
  }
}

/** e.g. `shop.yaml:12:5: spec.deployItems.0.type: Expected a string`. */
export const describeProblem = (file: string, { path, message, line, column }: ManifestProblem): string =>
  [line === undefined ? file : `${file}:${line}:${column ?? 1}`, path, message].filter(Boolean).join(': ')
