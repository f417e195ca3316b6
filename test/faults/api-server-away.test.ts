import { setTimeout as delay } from 'node:timers/promises'
import { KubeConfig } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { ownKubeconfig } from '../../src/agents/kubernetes/kubeconfig.ts'
import { kubernetesPlace } from '../runtimes/kubernetes-place.ts'
import { listener, workload } from '../runtimes/place.ts'
import { hasCluster } from '../testkit/cluster.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { startCuttingProxy } from './cutting-proxy.ts'

/** The cluster of KUBECONFIG, as it is reached through a port of this machine. */
function configThrough(port: number): KubeConfig {
  const config = ownKubeconfig()
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()]
  if (!cluster || !user) throw new Error('there is no cluster')
  const through = new KubeConfig()
  through.loadFromClusterAndUser({ ...cluster, server: `https://127.0.0.1:${port}`, skipTLSVerify: true }, user)
  return through
}

function addressOfCluster(): { readonly port: number; readonly host: string } {
  const config = ownKubeconfig()
  const { port, hostname } = new URL(config.getCurrentCluster()?.server ?? '')
  return { port: Number(port || 443), host: hostname }
}

test.runIf(hasCluster())(
  'while the API server is away nothing is concluded; what happened meanwhile is then told, once',
  async () => {
    const { port, host } = addressOfCluster()
    await using proxy = await startCuttingProxy([port], host)
    await using at = await kubernetesPlace()
    const problems: string[] = []
    const onProblem = ({ message }: Error) => void problems.push(message)
    const runtime = await at.open({ config: configThrough(proxy.port), onProblem })
    const begin = async (script: string) => {
      const one = workload(at, script)
      await runtime.start(one, 'receipt')
      const { lines, watcher } = listener()
      const watching = runtime.watch(one.id, watcher)
      return { id: one.id, lines, watching }
    }
    const [ends, stays, goes] = await Promise.all([
      begin('echo up; sleep 2; echo end; exit 3'),
      begin('echo up; sleep 6; while :; do sleep 1; done'),
      begin('echo up; sleep 1000'),
    ])
    for (const { lines } of [stays, goes]) await until(() => lines.includes('STDOUT up'), { what: 'it is up' })
    const late = workload(at, 'echo up; exit 0')
    const heard = listener()
    let starting: Promise<void>
    {
      using _away = proxy.cutAll()
      starting = runtime.start(late, 'receipt')
      await at.endFromOutside(goes.id)
      await until(async () => !(await at.isRunning(ends.id)) && !(await at.isRunning(goes.id)), {
        what: 'both are over',
      })
      await until(() => problems.length > 0, { what: 'the problem is told' })
      await delay(soak(0, 30_000))
      expect(await at.pod(late.id)).toBeNull()
    }
    expect(await ends.watching).toEqual({ how: 'EXITED', exitCode: 3, signal: null })
    expect(ends.lines).toEqual(['STDOUT up', 'STDOUT end'])
    expect(await goes.watching).toMatchObject({ how: 'GONE', reason: 'DELETED' })
    await starting
    expect(await runtime.watch(late.id, heard.watcher)).toMatchObject({ how: 'EXITED', exitCode: 0 })
    expect(heard.lines).toEqual(['STDOUT up'])
    expect(await at.isRunning(stays.id)).toBe(true)
    expect(stays.lines).toEqual(['STDOUT up'])
  },
)
