import { type KubernetesApi, OF_OTHERS, unless } from '../../../../agents/kubernetes/api.ts'
import { groupOf, isBuiltIn } from '../../../../agents/kubernetes/objects.ts'

interface Version {
  readonly gitVersion?: string
}
interface Groups {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[]
}
interface Resources {
  readonly resources: readonly { readonly name: string; readonly kind: string }[]
}

/**
 * The cluster's capabilities for charts (`.Capabilities`), as arguments of `helm template`, which contacts no cluster.
 */
export async function capabilityArguments(api: KubernetesApi): Promise<readonly string[]> {
  const [{ gitVersion = '' }, { groups }] = await Promise.all([api.get<Version>('/version'), api.get<Groups>('/apis')])
  const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion))
  // Helm knows the kinds of the others itself.
  const kinds = await Promise.all(versions.filter((one) => !isBuiltIn(groupOf(one))).map((one) => kindsOf(api, one)))
  return [
    // One that was built without a version has zeros.
    ...(/^v[1-9]\d*\.\d+\.\d+/.test(gitVersion) ? [`--kube-version=${gitVersion}`] : []),
    `--api-versions=${['v1', ...versions, ...kinds.flat()].join(',')}`,
  ]
}

const UNAVAILABLE = [500, 502, 503, 504]

async function kindsOf(api: KubernetesApi, groupVersion: string): Promise<readonly string[]> {
  // A group whose server is away is left out, so that it holds up no chart that does not need it.
  const found = await unless(
    [404, ...UNAVAILABLE],
    api.get<Resources>(`/apis/${groupVersion}`, { attempts: OF_OTHERS }),
  )
  const kinds = (found?.resources ?? []).flatMap(({ name, kind }) => (name.includes('/') ? [] : [kind]))
  return kinds.map((kind) => `${groupVersion}/${kind}`)
}
