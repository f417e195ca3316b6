import { stat } from 'node:fs/promises'
import Docker from 'dockerode'
import { beforeAll, describe, expect, test } from 'vitest'
import { containerName, PLACE_LABEL } from '../../src/families/pipelines/agents/container/container-of.ts'
import type { ContainerRuntimeOptions } from '../../src/families/pipelines/agents/container/container-runtime.ts'
import { BESIDE_LABEL, networkName } from '../../src/families/pipelines/agents/container/services.ts'
import type { Service, Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { engineSocket, IMAGE, provideImage } from '../testkit/container-engine.ts'
import { cloneConformance } from './clone-conformance.ts'
import { type Conformance, conformance } from './conformance.ts'
import { containerPlace } from './container-place.ts'
import { listener, workload } from './place.ts'
import { servicesConformance } from './services-conformance.ts'

const socket = engineSocket()

describe.runIf(socket)('container', () => {
  beforeAll(() => provideImage(socket ?? ''), 60_000)
  const suite: Conformance = {
    openPlace: () => containerPlace(socket ?? ''),
    hasImages: true,
    tellsErrorsApart: true,
    hasSecretVariables: false,
  }
  conformance(suite)
  cloneConformance(suite)
  servicesConformance(suite)

  async function run(script: string, more: Partial<Workload> = {}, options: Partial<ContainerRuntimeOptions> = {}) {
    await using at = await containerPlace(socket ?? '', options)
    const runtime = await at.open()
    const one = workload(at, script, more)
    await runtime.start(one, 'receipt')
    const { lines, watcher } = listener()
    return { end: await runtime.watch(one.id, watcher), lines }
  }

  test('what is written in the last moment is passed on, whole and in order', async () => {
    await using at = await containerPlace(socket ?? '')
    const runtime = await at.open({ output: { lines: 100_000, bytes: 10_000_000, totalBytes: 10_000_000 } })
    const all = Array.from({ length: 20_000 }, (_, i) => `STDOUT ${i + 1}`).join()
    // Several at once keep the engine behind.
    const told = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const one = workload(at, 'seq 1 20000')
        await runtime.start(one, 'receipt')
        const { lines, watcher } = listener()
        await runtime.watch(one.id, watcher)
        return lines.join()
      }),
    )
    expect(told.map((lines) => lines === all)).toEqual([true, true, true, true])
  })

  test('one that needs too much memory is told apart', async () => {
    // A shell whose variable grows: everything it has is its own memory, not the page cache.
    const grow = 'x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done'
    const { end } = await run(grow, {}, { memory: 16 * 1024 ** 2 })
    const { CgroupVersion } = (await new Docker({ socketPath: socket ?? '' }).info()) as {
      readonly CgroupVersion?: string
    }
    // Podman does not notice it on a system with the older control groups.
    const told = CgroupVersion === '1' ? {} : { outOfMemory: true }
    expect(end).toEqual({ how: 'EXITED', exitCode: null, signal: 'SIGKILL', ...told })
  })

  test('it has no capabilities and no way to any, no network, and a root that is read-only', async () => {
    const { lines } = await run(
      'cat /proc/self/status; ls /sys/class/net; echo x > /x || echo read-only; echo x > /tmp/x',
    )
    expect(lines).toContain('STDOUT CapEff:\t0000000000000000')
    expect(lines).toContain('STDOUT CapBnd:\t0000000000000000')
    expect(lines).toContain('STDOUT NoNewPrivs:\t1')
    expect(lines).toContain('STDOUT read-only')
    expect(lines.filter((line) => /^STDOUT (lo|eth|tap)/.test(line))).toEqual(['STDOUT lo'])
  })

  test('a user of its own may write to the workspace, and reads its secrets', async () => {
    const files = [{ path: 'deep/er/run.sh', content: '#!/bin/sh\nid -u; echo x > note; cat note deep/er/run.sh' }]
    const { lines, end } = await run(
      './deep/er/run.sh && echo && cat "$PHASELINE_SECRETS/KEY"',
      { files, secrets: { KEY: 'marker' } },
      { user: '1234:1234' },
    )
    expect(end, lines.join('\n')).toMatchObject({ exitCode: 0 })
    expect(lines.slice(0, 2)).toEqual(['STDOUT 1234', 'STDOUT x'])
    expect(lines.at(-1)).toBe('STDOUT ***')
  })

  test('an image runs its own command when the workload has none, with the arguments of the workload', async () => {
    const { lines } = await run('', { command: ['echo'], args: ['one', 'two'] })
    expect(lines).toEqual(['STDOUT one two'])
    await expect(run('', { command: [], args: [] })).rejects.toThrow(/command/)
  })

  const CACHE: Service = {
    ...{ name: 'cache', image: IMAGE, args: [], env: {}, secrets: [], ports: [9_999], user: 1_234 },
    command: ['sh', '-c', 'id -u > /tmp/id; exec busybox nc -ll -p 9999 -e cat /tmp/id'],
    readiness: { port: 9_999, command: [], timeoutMs: 20_000 },
  }
  const asks = 'busybox nc -w 5 cache 9999 < /dev/null'

  test('a service is found by its name as a host, writes as its user, and its network leads nowhere else', async () => {
    const { lines, end } = await run(`${asks}; cat /proc/net/route`, { services: [CACHE] })
    expect(end, lines.join('\n')).toMatchObject({ exitCode: 0 })
    expect(lines[0]).toBe('STDOUT 1234')
    expect(lines.filter((line) => /^STDOUT \w+\t0{8}\t/.test(line))).toEqual([])
  })

  test('a workload has its own network and that of its services', async () => {
    const docker = new Docker({ socketPath: socket ?? '' })
    const network = await docker.createNetwork({ Name: `phaseline-test-${process.pid}`, Driver: 'bridge' })
    try {
      const { lines } = await run(
        `${asks}; ls /sys/class/net`,
        { services: [CACHE] },
        { network: `phaseline-test-${process.pid}` },
      )
      expect(lines).toEqual(['STDOUT 1234', 'STDOUT eth0', 'STDOUT eth1', 'STDOUT lo'])
    } finally {
      await network.remove()
    }
  })

  test('services and networks of workloads that nobody knows are removed', async () => {
    await using at = await containerPlace(socket ?? '')
    const docker = new Docker({ socketPath: socket ?? '' })
    const { instance } = await at.open()
    const Labels = { [PLACE_LABEL]: instance, [BESIDE_LABEL]: 'gone' }
    const network = await docker.createNetwork({ Name: networkName('gone'), Driver: 'bridge', Labels })
    const container = await docker.createContainer({
      name: 'phaseline-gone-db',
      Image: IMAGE,
      Cmd: ['sleep', '1000'],
      Labels,
    })
    await container.start()
    await (await at.open()).list()
    expect(await at.leftovers()).toEqual([])
    await expect(network.inspect()).rejects.toThrow()
  })

  test('on the network of the machine it is refused with services, and says why', async () => {
    const refused = run('true', { services: [CACHE] }, { network: 'host' })
    await expect(refused).rejects.toMatchObject({ code: 'SERVICES_REFUSED', message: expect.stringMatching(/host/) })
  })

  test('what it reads is in memory, and within a folder of this user alone', async () => {
    await using at = await containerPlace(socket ?? '')
    const runtime = await at.open()
    const one = workload(at, 'sleep 1000', { secrets: { KEY: 'marker' } })
    await runtime.start(one, 'receipt')
    const { Mounts } = await new Docker({ socketPath: socket ?? '' }).getContainer(containerName(one.id)).inspect()
    const input = Mounts.find(({ Destination }) => Destination === '/run/phaseline')
    expect(input).toMatchObject({ RW: false, Source: expect.stringMatching(/^\/dev\/shm\/phaseline-/) })
    const parent = await stat(`/dev/shm/phaseline-${process.getuid?.()}`)
    expect(parent.mode & 0o077).toBe(0)
  })
})
