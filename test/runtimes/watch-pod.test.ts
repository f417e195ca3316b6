import { randomUUID } from 'node:crypto'
import type { V1Pod } from '@kubernetes/client-node'
import { describe, expect, test } from 'vitest'
import { KubernetesApi } from '../../src/agents/kubernetes/api.ts'
import { ownKubeconfig } from '../../src/agents/kubernetes/kubeconfig.ts'
import { Mask } from '../../src/agents/mask.ts'
import { LABELS, workloadName } from '../../src/families/pipelines/agents/kubernetes/names.ts'
import { PodFeed } from '../../src/families/pipelines/agents/kubernetes/pod-feed.ts'
import { watchPod } from '../../src/families/pipelines/agents/kubernetes/watch-pod.ts'
import { Output } from '../../src/families/pipelines/agents/runtime/output.ts'
import { CLUSTER_IMAGE, hasCluster } from '../testkit/cluster.ts'
import { PATIENCE_MS, until } from '../testkit/wait.ts'
import { kubernetesPlace } from './kubernetes-place.ts'
import { listener } from './place.ts'

/** Its answers about a pod are on their way for as long as a test likes. */
class SlowApi extends KubernetesApi {
  readonly arrives = Promise.withResolvers<void>()
  answers = 0
  override async find<T>(path: string): Promise<T | null> {
    const answer = await super.find<T>(path)
    this.answers += 1
    await this.arrives.promise
    return answer
  }
}

describe.runIf(hasCluster())('a pod that is watched', { timeout: PATIENCE_MS }, () => {
  test('an answer that comes late does not hide what changed meanwhile', async () => {
    await using at = await kubernetesPlace()
    const closing = new AbortController()
    const { signal } = closing
    const config = ownKubeconfig()
    const api = new SlowApi(config, signal)
    const name = workloadName(randomUUID())
    const path = at.path('pods', name)
    // No scheduler and no node change it.
    await at.api.post(at.path('pods'), {
      metadata: { name, labels: { [LABELS.place]: at.namespace } },
      spec: { schedulerName: 'nobody', containers: [{ name: 'workload', image: CLUSTER_IMAGE }] },
    })
    const onProblem = (error: Error): void => {
      if (!signal.aborted) console.error(error.message)
    }
    const labelSelector = `${LABELS.place}=${at.namespace}`
    const feed = new PodFeed({ ...{ api: at.api, path: at.path('pods'), labelSelector, signal, onProblem } })
    const told: (V1Pod | null)[] = []
    using _ = feed.follow(name, (pod) => told.push(pod))
    const { watcher } = listener()
    const output = new Output({ mask: new Mask([]), onLine: watcher.onLine })
    const watching = watchPod(
      {
        ...{ api, feed, name, path, output, onPosition: () => {}, onAlive: () => {} },
        settings: { schedulingSeconds: 0, imagePullSeconds: 0 },
      },
      watcher,
    )
    try {
      await until(() => api.answers === 1, { what: 'its state was read' })
      const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }]
      await at.api.patch(`${path}/status`, { status: { conditions } })
      await until(() => told.some((pod) => pod?.status?.conditions?.length), { what: 'the change is told' })
      api.arrives.resolve()
      expect(await watching).toEqual({ how: 'NOT_STARTED', message: expect.stringContaining('0/1 nodes') })
    } finally {
      closing.abort()
    }
  })
})
