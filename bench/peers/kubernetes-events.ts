import { randomUUID } from 'node:crypto'
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from '@kubernetes/client-node'
import { atOnce } from '../at-once.ts'
import { type Peer, type PeerOptions, servePeer } from '../harness-peer.ts'

/** A bare client of a cluster, with the Kubernetes client's own informer: creates pods, waits and deletes, with as many at the same time as our runtime. */

const AT_ONCE = 16

await servePeer(open)

interface Followed {
  onStart(): void
  onEnd(): void
}

/** @param url of the kubeconfig's file, with the namespace as its fragment and the image in its query */
async function open({ url }: PeerOptions): Promise<Peer> {
  const { hash, pathname, searchParams } = new URL(url)
  const namespace = hash.slice(1)
  const image = searchParams.get('image') ?? ''
  const config = new KubeConfig()
  config.loadFromFile(pathname)
  const api = config.makeApiClient(CoreV1Api)
  const labelSelector = 'app=bare'
  const followed = new Map<string, Followed>()
  const informer = makeInformer(
    config,
    `/api/v1/namespaces/${namespace}/pods`,
    () => api.listNamespacedPod({ namespace, labelSelector }),
    labelSelector,
  )
  const look = ({ metadata, status }: V1Pod): void => {
    const pod = followed.get(metadata?.name ?? '')
    if (status?.phase === 'Running') pod?.onStart()
    if (status?.phase === 'Succeeded') pod?.onEnd()
  }
  for (const event of ['add', 'update'] as const) informer.on(event, look)
  await informer.start()
  const run = async (onStart: () => void): Promise<void> => {
    const name = `bare-${randomUUID()}`
    const ended = Promise.withResolvers<void>()
    followed.set(name, {
      onStart,
      onEnd() {
        onStart()
        ended.resolve()
      },
    })
    await api.createNamespacedPod({ namespace, body: podOf(name, image) })
    await ended.promise
    followed.delete(name)
    await api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 })
  }
  return {
    runTrees: (count) => atOnce(count, AT_ONCE, () => run(() => {})),
    createItem: run,
    async [Symbol.asyncDispose]() {
      await informer.stop()
    },
  }
}

const podOf = (name: string, image: string): V1Pod => ({
  metadata: { name, labels: { app: 'bare' } },
  spec: {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsUser: 1_000, runAsNonRoot: true },
    containers: [{ name: 'workload', image, imagePullPolicy: 'Never', command: ['sh', '-c', ':'] }],
  },
})
