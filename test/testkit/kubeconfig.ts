export const PEM = Buffer.from('-----BEGIN CERTIFICATE-----\n').toString('base64')

/** A kubeconfig that is whole in itself, of a cluster that is nowhere. */
export const kubeconfig = ({ token = 'secret-token', user = {}, cluster = {}, context = {} } = {}): string =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'it' },
    clusters: [
      { name: 'it', cluster: { server: 'https://127.0.0.1:1', 'certificate-authority-data': PEM, ...cluster } },
    ],
    users: [{ name: 'it', user: { token, ...user } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it', ...context } }],
  })
