import { MASKED } from '../../core/dry-run.ts'
import { sameJson } from '../../core/json.ts'
import { fieldsOf, type KubernetesObject } from './objects.ts'

/** Differences between two states of an object, apart from the fields that the cluster itself writes. */
export interface Change {
  /** E.g. `spec.template.spec.containers.0.image`. */
  readonly path: string
  /** Undefined: it is not there. */
  readonly from: unknown
  readonly to: unknown
}

const MOST = 100
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const OF_CLUSTER = ['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp', 'selfLink']

/** @param marks annotations that state an object's origin, not its content */
export function changesBetween(
  before: KubernetesObject,
  after: KubernetesObject,
  marks: readonly string[] = [],
): readonly Change[] {
  const changes: Change[] = []
  compare([], essence(before, marks), essence(after, marks), changes)
  return before.kind === 'Secret' ? changes.map(hidden) : changes
}

/** The content of an object. kubectl's copy of it would repeat all of it, secrets too. */
export function essence({ status: _status, metadata, ...rest }: KubernetesObject, marks: readonly string[]): object {
  const annotations = without(metadata.annotations ?? {}, [...marks, LAST_APPLIED])
  return { ...rest, metadata: { ...without(metadata, OF_CLUSTER), annotations } }
}

const without = (fields: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

function compare(path: readonly string[], from: unknown, to: unknown, changes: Change[]): void {
  if (changes.length >= MOST || sameJson(from, to)) return
  if (!isNested(from) || !isNested(to) || Array.isArray(from) !== Array.isArray(to)) {
    changes.push({ path: path.join('.'), from, to })
    return
  }
  const [left, right] = [from as Readonly<Record<string, unknown>>, to as Readonly<Record<string, unknown>>]
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
    compare([...path, key], left[key], right[key], changes)
}

const isNested = (value: unknown): boolean => Array.isArray(value) || Object.keys(fieldsOf(value)).length > 0

/** Values of a Secret. */
export const isSecret = ({ kind }: Pick<KubernetesObject, 'kind'>, path: string): boolean =>
  kind === 'Secret' && /^(data|stringData)\b/.test(path)

const hidden = (change: Change): Change => {
  const { path, from, to } = change
  if (!isSecret({ kind: 'Secret' }, path)) return change
  return { path, from: from === undefined ? from : MASKED, to: to === undefined ? to : MASKED }
}

const MOST_TEXT = 120
export const describeChange = ({ path, from, to }: Change): string => `${path}: ${textOf(from)} → ${textOf(to)}`

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`
}
