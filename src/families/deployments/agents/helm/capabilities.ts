import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'

interface Version {
  readonly gitVersion?: string
}
interface Groups {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[]
}
interface Resources {
  readonly resources: readonly { readonly name: string; readonly kind: string }[]
}

/** Helm knows the kinds of these itself. */
const isBuiltIn = (groupVersion: string): boolean => {
  const [group = ''] = groupVersion.split('/')
  return !group.includes('.') || group.endsWith('.k8s.io')
}

/**
 * The cluster's capabilities for charts (`.Capabilities`), as arguments of `helm template`, which contacts no cluster.
 */
export async function capabilityArguments(api: KubernetesApi): Promise<readonly string[]> {
  const [{ gitVersion = '' }, { groups }] = await Promise.all([api.get<Version>('/version'), api.get<Groups>('/apis')])
  const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion))
  const kinds = await Promise.all(versions.filter((one) => !isBuiltIn(one)).map((one) => kindsOf(api, one)))
  return [
    // One that was built without a version has zeros.
    ...(/^v[1-9]\d*\.\d+\.\d+/.test(gitVersion) ? [`--kube-version=${gitVersion}`] : []),
    `--api-versions=${['v1', ...versions, ...kinds.flat()].join(',')}`,
  ]
}

async function kindsOf(api: KubernetesApi, groupVersion: string): Promise<readonly string[]> {
  const found = await api.find<Resources>(`/apis/${groupVersion}`)
  const kinds = (found?.resources ?? []).flatMap(({ name, kind }) => (name.includes('/') ? [] : [kind]))
  return kinds.map((kind) => `${groupVersion}/${kind}`)
}
