import { once } from 'node:events'
import { connect } from 'node:tls'
import { ownKubeconfig } from '../../../../src/agents/kubernetes/kubeconfig.ts'
import { readFlatKubeconfig, writeYaml } from '../../../../src/manifest/index.ts'
import type { ManifestPlace } from './manifest-place.ts'

/** A service account of the place with the right to do everything with config maps there, or none. */
export async function account(at: ManifestPlace, name: string, { mayWrite }: { readonly mayWrite: boolean }) {
  await at.api.post(at.path('serviceaccounts'), { metadata: { name } })
  const roles = 'rbac.authorization.k8s.io/v1'
  if (mayWrite) {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]
    await at.api.post(at.path(`${roles}/roles`), { metadata: { name }, rules })
    await at.api.post(at.path(`${roles}/rolebindings`), {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: at.namespace }],
    })
  }
  const { status } = await at.api.post<{ status: { token: string } }>(`${at.path('serviceaccounts', name)}/token`, {
    spec: { expirationSeconds: 3_600 },
  })
  return { token: status.token, kubeconfig: await kubeconfigOf(status.token, at.namespace) }
}

/** A kubeconfig of the tests' cluster that is whole in itself. */
export async function kubeconfigOf(token: string, namespace: string): Promise<string> {
  const { server = '' } = ownKubeconfig().getCurrentCluster() ?? {}
  const authority = Buffer.from(await authorityOf(new URL(server))).toString('base64')
  const text = writeYaml({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'it' },
    clusters: [{ name: 'it', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'it', user: { token } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it', namespace } }],
  })
  const read = readFlatKubeconfig(text)
  if (!read.ok) throw new Error(read.problems.join())
  return text
}

/** The certificate at the end of the API server's chain: kubeconfigs of tests may do without one. */
async function authorityOf({ hostname, port }: URL): Promise<string> {
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  let certificate = socket.getPeerCertificate(true)
  while (certificate.issuerCertificate && certificate.issuerCertificate.fingerprint !== certificate.fingerprint)
    certificate = certificate.issuerCertificate
  socket.destroy()
  const lines = certificate.raw.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
