import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  parseDocument,
  type Scalar,
  visit,
  YAMLParseError,
} from 'yaml'
import { HELM } from '../core/deployers/helm.ts'
import { KUBERNETES_MANIFEST } from '../core/deployers/kubernetes-manifest.ts'
import { LIKE_KUBERNETES } from './like-kubernetes.ts'

type Doc = Document.Parsed<ParsedNode>

/** Types of items whose config is as the tools of Kubernetes have it, so that YAML is read there as they read it. */
const KUBERNETES_TYPES: ReadonlySet<unknown> = new Set([KUBERNETES_MANIFEST, HELM])

const NUMBER = /^[-+]?(?:0[0-9obx_]|[0-9.]+_)/
const WORD = /^(?:y|n|yes|no|on|off)$/i

/**
 * An error for each value without quotes that other tools read as another one: `0400` is 256 for those with YAML 1.1, and 400
 * for those with YAML 1.2. Words such as `yes` are text here as in YAML 1.2, but not in what goes to Kubernetes.
 */
export function twoReadings(document: Doc): readonly YAMLParseError[] {
  const errors: YAMLParseError[] = []
  const judge = (scalar: Scalar, pattern: RegExp): void => {
    const { source, range, type } = scalar
    if (type !== 'PLAIN' || source === undefined || !range || !pattern.test(source)) return
    const other: unknown = parseDocument(source, LIKE_KUBERNETES).toJS()
    if (Object.is(other, scalar.value)) return
    const message = `${source} is ${shown(scalar.value)} in YAML 1.2 and ${shown(other)} in YAML 1.1: write it in another way, or in quotes`
    errors.push(new YAMLParseError([range[0], range[1]], 'TAG_RESOLVE_FAILED', message))
  }
  visit(document, {
    Scalar: (_, scalar) => judge(scalar, NUMBER),
    Pair: (_, { key }) => void errors.push(...changedKey(key)),
  })
  const seen = new Set<unknown>()
  for (const config of kubernetesConfigs(document)) eachScalar(config, document, seen, (scalar) => judge(scalar, WORD))
  return errors.sort((a, b) => a.pos[0] - b.pos[0])
}

/** Keys of JSON are texts. That of a number without quotes is another text than the file has: `1.10` would be "1.1". */
function changedKey(key: unknown): readonly YAMLParseError[] {
  if (!isScalar(key) || key.type !== 'PLAIN' || !key.range || typeof key.value === 'symbol') return []
  const { value, source, range } = key
  const text = value === null ? '' : String(value)
  if (text === source) return []
  const message = `The key ${source} would be ${JSON.stringify(text)}: write it in quotes`
  return [new YAMLParseError([range[0], range[1]], 'TAG_RESOLVE_FAILED', message)]
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? 'text' : typeof value === 'number' ? `the number ${value}` : String(value)

function kubernetesConfigs(document: Doc): readonly unknown[] {
  const configs: unknown[] = []
  visit(document, {
    Map(_, map) {
      if (KUBERNETES_TYPES.has(map.get('type'))) configs.push(map.get('config', true))
    },
  })
  return configs
}

/** All scalars of a node, each once, those of its aliases too. Nesting may be too deep for a recursion. */
function eachScalar(node: unknown, document: Doc, seen: Set<unknown>, call: (scalar: Scalar) => void): void {
  const waiting = [node]
  while (waiting.length > 0) {
    const next = waiting.pop()
    const here: unknown = isAlias(next) ? next.resolve(document) : next
    if (seen.has(here)) continue
    seen.add(here)
    if (isScalar(here)) call(here)
    else if (isMap(here)) for (const { key, value } of here.items) waiting.push(key, value)
    else if (isSeq(here)) waiting.push(...here.items)
  }
}
