import { JSONPath } from 'jsonpath-plus'
import { groupOf, type KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { CURRENT, inProgress, type ObjectStatus } from '../../../../agents/kubernetes/status.ts'
import type { KubernetesExport } from '../../../../core/deployers/kubernetes-manifest.ts'
import { DeployError } from '../deploy-error.ts'
import type { Placed, Run } from './placed.ts'

interface Export extends KubernetesExport {
  readonly as: string
  readonly of: Placed
}

/** The exports that an item wants, each with its object. @throws DeployError */
export function exportsOf({ config }: Run, objects: readonly Placed[]): readonly Export[] {
  return Object.entries(config.exports ?? {}).map(([as, wanted]) => {
    const found = objects.filter((one) => fits(one, wanted))
    const [of] = found
    const about = `The export ${as} is of ${wanted.kind} ${wanted.name}`
    if (!of) throw new DeployError('KUBERNETES_EXPORTS', `${about}, which is not among the manifests.`)
    if (found.length > 1)
      throw new DeployError(
        'KUBERNETES_EXPORTS',
        `${about}, of which there are several: name its namespace or apiVersion.`,
      )
    if (wanted.kind === 'Secret')
      throw new DeployError(
        'KUBERNETES_EXPORTS',
        `${about}: secrets are not exported, since exports can be read by viewers.`,
      )
    return { ...wanted, as, of }
  })
}

const fits = (one: Placed, { kind, name, namespace, apiVersion }: KubernetesExport): boolean =>
  one.kind === kind &&
  one.name === name &&
  (namespace === undefined || one.namespace === namespace) &&
  (apiVersion === undefined || groupOf(one.apiVersion) === groupOf(apiVersion))

/** An object is waited for until all that is exported of it is there. */
export const hasExports =
  (exports: readonly Export[]) =>
  (object: KubernetesObject, placed: Placed): ObjectStatus => {
    const missing = exports.find(({ of, path }) => of === placed && readPath(object, path) === undefined)
    return missing ? inProgress(`it has no ${missing.path} yet, which is exported`) : CURRENT
  }

export function readExports(
  exports: readonly Export[],
  objects: ReadonlyMap<Placed, KubernetesObject>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    exports.flatMap(({ as, of, path }) => {
      const object = objects.get(of)
      return object ? [[as, readPath(object, path)]] : []
    }),
  )
}

/** All entries of `[*]` as a list; of others the first that is found. */
function readPath(object: KubernetesObject, path: string): unknown {
  const found = JSONPath({ path: `$${path}`, json: object, eval: 'safe', wrap: true }) as readonly unknown[]
  if (found.length === 0) return undefined
  return path.includes('[*]') ? found : found[0]
}
