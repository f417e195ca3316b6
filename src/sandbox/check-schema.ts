import { describeJsonProblem, jsonProblem } from '../core/json-problem.ts'
import { storedLeafProblem } from '../core/portable.ts'
import { LIMITS } from './limits.ts'

export type SchemaCheck = { readonly ok: true } | { readonly ok: false; readonly message: string }

const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/
const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])
/** Keywords whose value is data: a `$ref` in it is not a reference. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose value is a map of schemas under names that the user chooses. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Checks that a JSON Schema (draft 2020-12) is bounded and refers only to itself. */
export function checkSchema(schema: unknown): SchemaCheck {
  const size = jsonProblem(schema, { depth: LIMITS.depth, size: LIMITS.schema }, storedLeafProblem)
  if (size) return { ok: false, message: describeJsonProblem('a JSON Schema', size) }
  const problem = problemIn(schema, '#', { root: schema, anchors: anchorsIn(schema, new Set()) })
  return problem ? { ok: false, message: problem } : { ok: true }
}

interface Document {
  readonly root: unknown
  readonly anchors: ReadonlySet<string>
}

function problemIn(schema: unknown, at: string, document: Document): string | null {
  if (typeof schema === 'boolean') return null
  if (!isObject(schema)) return `a JSON Schema must be an object or a boolean, at ${at}`
  for (const [key, value] of Object.entries(schema)) {
    const problem = keywordProblem(key, value, `${at}/${key}`, document)
    if (problem) return problem
  }
  return null
}

function keywordProblem(key: string, value: unknown, at: string, document: Document): string | null {
  if (DATA.has(key)) return null
  if (MAPS.has(key)) return mapProblem(key, value, at, document)
  switch (key) {
    case '$schema':
      return typeof value === 'string' && DRAFT.test(value) ? null : `only draft 2020-12 is supported, at ${at}`
    case '$ref':
      return referenceProblem(value, at, document)
    case '$dynamicRef':
    case '$recursiveRef':
      return `${key} is not supported, at ${at}`
    case '$id':
      return at === '#/$id' && typeof value === 'string' && URL.canParse(value, 'https://schema.invalid/')
        ? null
        : `$id must be a URI, and only the whole schema may have one, at ${at}`
    case 'type':
      return [value].flat().every((type) => typeof type === 'string' && TYPES.has(type))
        ? null
        : `there is no such type, at ${at}`
    case 'pattern':
      return patternProblem(value, at)
    default:
      return nestedProblem(value, at, document)
  }
}

function mapProblem(key: string, value: unknown, at: string, document: Document): string | null {
  if (!isObject(value)) return `an object of schemas is expected at ${at}`
  for (const [name, schema] of Object.entries(value)) {
    const problem =
      (key === 'patternProperties' ? patternProblem(name, at) : null) ?? problemIn(schema, `${at}/${name}`, document)
    if (problem) return problem
  }
  return null
}

/** Any other keyword: an object in its value, or in a list there, can only be a schema. */
function nestedProblem(value: unknown, at: string, document: Document): string | null {
  const schemas = Array.isArray(value) ? value : [value]
  for (const [i, schema] of schemas.entries()) {
    const problem = isObject(schema) ? problemIn(schema, Array.isArray(value) ? `${at}/${i}` : at, document) : null
    if (problem) return problem
  }
  return null
}

function patternProblem(value: unknown, at: string): string | null {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') ? null : `a pattern must be a string, at ${at}`
  } catch {
    return `the pattern is not a valid regular expression, at ${at}`
  }
}

function referenceProblem(reference: unknown, at: string, { root, anchors }: Document): string | null {
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    return `a $ref must stay within the schema and begin with "#", at ${at}`
  }
  const fragment = reference.slice(1)
  const found = fragment.startsWith('/') ? resolvePointer(root, fragment) : fragment === '' || anchors.has(fragment)
  return found ? null : `the $ref leads nowhere, at ${at}`
}

function resolvePointer(root: unknown, pointer: string): boolean {
  let here = root
  for (const part of pointer.slice(1).split('/')) {
    const key = decodePart(part)
    if (key === null || typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return false
    here = (here as Record<string, unknown>)[key]
  }
  return typeof here === 'boolean' || isObject(here)
}

function decodePart(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return null
  }
}

function anchorsIn(value: unknown, found: Set<string>): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return found
  for (const [key, child] of Object.entries(value)) {
    if (key === '$anchor' && typeof child === 'string') found.add(child)
    anchorsIn(child, found)
  }
  return found
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
