import { isAlias, isCollection, isMap, isScalar, isSeq, LineCounter } from 'yaml'
import { type Doc, hasContent, readAllYaml, readYaml } from './read-yaml.ts'

/** Both start at 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

export function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/** The node of the path, or its nearest parent that exists: a missing field is reported where it should be. */
export function offsetOf(document: Doc, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = document.contents
  let offset = startOf(node)
  for (const step of path) {
    const at = stepInto(isAlias(node) ? node.resolve(document) : node, step)
    if (!at) break
    offset = at.offset ?? offset
    node = at.node
  }
  return offset
}

interface Step {
  readonly node: unknown
  readonly offset: number | undefined
}
function stepInto(node: unknown, step: PropertyKey): Step | null {
  if (isSeq(node)) {
    const item = node.items[Number(step)]
    return item === undefined ? null : { node: item, offset: startOf(item) }
  }
  if (!isMap(node)) return null
  const named = node.items.find(({ key }) => (isScalar(key) ? key.value : key) === step)
  // The API has lists of pairs where a file has a map.
  const pair = named ?? (/^\d+$/.test(String(step)) ? node.items[Number(step)] : undefined)
  if (!pair) return null
  // The rest of the path is looked up below the key.
  const below = !named || pair.value === null || (isCollection(pair.value) && !pair.value.flow)
  return { node: pair.value, offset: startOf(below ? pair.key : pair.value) ?? startOf(pair.key) }
}

function startOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined
  const start: unknown = node.range[0]
  return typeof start === 'number' ? start : undefined
}

/** The place of an unknown key. */
export function offsetOfKey(document: Doc, path: readonly PropertyKey[], key: string): number | undefined {
  const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true)
  const pair = isMap(node) ? node.items.find((one) => isScalar(one.key) && one.key.value === key) : undefined
  return startOf(pair?.key)
}

/**
 * The place in the text of a path of the API, e.g. `input.spec.deployItems.2.dependsOn.0`; null when the text cannot be
 * parsed. If there are several documents, in the one with this index.
 */
export function placesIn(text: string, index?: number): (field: string) => Place | null {
  const lines = new LineCounter()
  const chosen = index === undefined ? undefined : readAllYaml(text, lines).filter(hasContent)[index]
  const document: Doc = chosen ?? readYaml(text, lines)
  return (field) => {
    const path = field.replace(/^input\b\.?(?:(?:create|update)\b\.?)?/, '')
    const offset = offsetOf(document, path === '' ? [] : path.split('.'))
    return offset === undefined ? null : placeAt(lines, offset)
  }
}
