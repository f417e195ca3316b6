import { API_VERSION, KIND, NAME, NAMESPACE } from '../core/deployers/kubernetes-manifest.ts'
import type { FieldProblem } from '../core/errors.ts'
import { hasExpressions } from '../core/expression.ts'
import { readKubernetes, YamlProblem } from './read-kubernetes.ts'

/** Objects of a cluster, from objects and YAML texts, with what no cluster could take. */

export interface ReadObjects {
  readonly objects: readonly object[]
  readonly problems: readonly FieldProblem[]
}

/** Enough for any list of lists that somebody means. */
const MAX_DEPTH = 8

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads all objects of a config's `manifests`. */
export function readManifests(manifests: string | readonly unknown[], path: string): ReadObjects {
  if (typeof manifests === 'string') return readObjects(manifests, path)
  return joined(manifests.map((entry, i) => readObjects(entry, `${path}.${i}`)))
}

const joined = (read: readonly ReadObjects[]): ReadObjects => ({
  objects: read.flatMap(({ objects }) => objects),
  problems: read.flatMap(({ problems }) => problems),
})

/** Reads one entry of `manifests`. Expressions in an object are resolved later, and those in a text make it unreadable now. */
export function readObjects(entry: unknown, path: string): ReadObjects {
  if (typeof entry !== 'string') return listed(entry, path)
  try {
    return joined(readKubernetes(entry).map((document) => listed(document, path)))
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error
    return { objects: [], problems: [{ path, message: `cannot be read as YAML: ${error.message}` }] }
  }
}

/** The objects of a list, as kubectl takes it apart: an object with `items` is one. */
function listed(value: unknown, path: string, depth = 0): ReadObjects {
  if (!(isFields(value) && Array.isArray(value.items)) || depth === MAX_DEPTH) {
    const problems = problemsOf(value, path)
    return { objects: isFields(value) ? [value] : [], problems }
  }
  const { kind, apiVersion, items } = value
  // The items of a typed list, such as a ConfigMapList, may leave out what the list says.
  const inherited = typeof kind === 'string' && kind !== 'List' ? { apiVersion, kind: kind.replace(/List$/, '') } : {}
  return joined(
    items.map((item, i) => listed(isFields(item) ? { ...inherited, ...item } : item, `${path}.items.${i}`, depth + 1)),
  )
}

function problemsOf(value: unknown, path: string): readonly FieldProblem[] {
  if (!isFields(value)) return [{ path, message: 'is no object of a cluster: it has no kind' }]
  const { apiVersion, kind, metadata } = value
  const problems = [
    textProblem(apiVersion, `${path}.apiVersion`, API_VERSION, 'a version such as v1 or apps/v1'),
    textProblem(kind, `${path}.kind`, KIND, 'a kind such as ConfigMap'),
  ]
  if (isOpen(metadata)) return present(problems)
  if (!isFields(metadata))
    return present([...problems, { path: `${path}.metadata`, message: 'must be there, with a name' }])
  const { name, generateName, namespace, annotations } = metadata
  // A hook that is run again has another name each time; the deployer names it by its content.
  if (name === undefined && generateName !== undefined && isHook(annotations))
    return present([
      ...problems,
      textProblem(`${String(generateName)}x`, `${path}.metadata.generateName`, NAME, 'the start of a name'),
    ])
  if (name === undefined && generateName !== undefined) {
    const message = 'makes another object with each job, which nothing would remove: give it a name'
    return present([...problems, { path: `${path}.metadata.generateName`, message }])
  }
  return present([
    ...problems,
    textProblem(name, `${path}.metadata.name`, NAME, 'the name of an object'),
    // Null is left out, for the API server as well.
    namespace == null
      ? null
      : textProblem(namespace, `${path}.metadata.namespace`, NAMESPACE, 'the name of a namespace'),
  ])
}

const HOOKS = ['argocd.argoproj.io/hook', 'helm.sh/hook']
const isHook = (annotations: unknown): boolean => isFields(annotations) && HOOKS.some((name) => name in annotations)

const isOpen = (value: unknown): boolean => typeof value === 'string' && hasExpressions(value)
const present = (problems: readonly (FieldProblem | null)[]): readonly FieldProblem[] =>
  problems.filter((problem) => problem !== null)

function textProblem(value: unknown, path: string, { pattern, maxLength }: Pattern, what: string): FieldProblem | null {
  if (isOpen(value)) return null
  const fits = typeof value === 'string' && value.length <= maxLength && new RegExp(pattern, 'u').test(value)
  return fits ? null : { path, message: value === undefined ? `must be there: ${what}` : `must be ${what}` }
}
interface Pattern {
  readonly pattern: string
  readonly maxLength: number
}
