import { type Document, LineCounter, parseAllDocuments, type Scalar, visit } from 'yaml'
import { describeJsonProblem, jsonProblem } from '../core/json-problem.ts'
import { LIKE_KUBERNETES } from './like-kubernetes.ts'
import { resolveAliases } from './resolve-aliases.ts'
import { repeatedKeys } from './unique-keys.ts'

/** Says where, and quotes nothing: the text may be a secret. */
export class YamlProblem extends Error {
  override name = 'YamlProblem'
}

/** The API server has bounds of its own. */
const UNBOUNDED = { depth: 1_000, size: Number.POSITIVE_INFINITY } as const

/** The documents of a text, without empty ones. @throws YamlProblem */
export function readKubernetes(text: string): readonly object[] {
  const lineCounter = new LineCounter()
  const documents = parseAllDocuments(text, { ...LIKE_KUBERNETES, lineCounter, intAsBigInt: true })
  return ('empty' in documents ? [] : documents).flatMap((document) => {
    const [error] =
      document.errors.length > 0 ? document.errors : [...repeatedKeys(document), ...resolveAliases(document)]
    if (error) throw new YamlProblem(`${error.code} at ${where(lineCounter.linePos(error.pos[0]))}`)
    visit(document, { Scalar: keepExactly })
    const value = unfold(document)
    const problem = jsonProblem(value, UNBOUNDED)
    if (problem) throw new YamlProblem(describeJsonProblem('the object', problem))
    return value === null ? [] : [value as object]
  })
}

function unfold(document: Pick<Document, 'toJS'>): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // Its words may quote the text.
    if (error instanceof RangeError) throw error
    throw new YamlProblem('it merges what is no map')
  }
}

/** TypeScript does not know it yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

/** A cluster has whole numbers of 64 bits, which JSON.stringify writes digit by digit. */
function keepExactly(key: unknown, scalar: Scalar): void {
  const { value } = scalar
  if (typeof value !== 'bigint') return
  const number = Number(value)
  if (Number.isSafeInteger(number)) scalar.value = number
  else scalar.value = key === 'key' ? String(value) : rawJson(String(value))
}

const where = ({ line, col }: { readonly line: number; readonly col: number }): string => `line ${line}, column ${col}`
