import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createClient } from 'redis'
import { expect, onTestFinished, test } from 'vitest'
import type { Signal } from '../../src/core/ports/signal.ts'
import { createRedisSignal } from '../../src/log/signal/redis.ts'
import { createAuthority } from '../testkit/certificates.ts'
import { freePort } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'
import { areProgramsThere, OWNER, ownedFolder, type Program, startProgram } from './programs.ts'

const logger = pino({ level: 'silent' })

async function startServer(args: readonly string[]): Promise<Program> {
  const folder = await ownedFolder()
  const program = startProgram('redis-server', args, folder.path)
  onTestFinished(async () => {
    await program[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  return program
}

async function command(port: number, ...words: string[]): Promise<unknown> {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await client.sendCommand(words)
  } finally {
    client.destroy()
  }
}
const answers = (port: number) => until(() => command(port, 'PING').catch(() => null), { what: 'redis-server answers' })

const openSignal = (url: string): Signal => {
  const signal = createRedisSignal({ url, logger })
  onTestFinished(() => signal.close())
  return signal
}

/** Sends again until it is heard: a message of an outage is lost, by design. */
async function reaches(from: Signal, to: Signal): Promise<void> {
  const channel = `test:${randomUUID()}`
  let isHeard = false
  const subscription = await to.subscribe(channel, () => {
    isHeard = true
  })
  await until(
    () => {
      from.publish(channel, '')
      return isHeard
    },
    { what: 'the signal gets through' },
  )
  await subscription.close()
}

const COMMON = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']

test.runIf(areProgramsThere())(
  'over Redis with Sentinel: a failover is followed, and subscriptions go on',
  async () => {
    const [one, two, sentinel] = [await freePort(), await freePort(), await freePort()]
    const primary = await startServer([...COMMON, '--port', String(one)])
    await startServer([...COMMON, '--port', String(two), '--replicaof', '127.0.0.1', String(one)])
    const folder = await ownedFolder()
    onTestFinished(() => folder[Symbol.asyncDispose]())
    const config = join(folder.path, 'sentinel.conf')
    await writeFile(
      config,
      `port ${sentinel}
bind 127.0.0.1
sentinel monitor signals 127.0.0.1 ${one} 1
sentinel down-after-milliseconds signals 500
sentinel failover-timeout signals 3000
`,
      { mode: 0o666 },
    )
    await chmod(config, 0o666)
    await answers(one)
    await startServer([config, '--sentinel'])
    await answers(sentinel)
    await until(async () => String(await command(one, 'INFO', 'replication')).includes('connected_slaves:1'), {
      what: 'the replica follows',
    })
    // The Sentinel looks for replicas every ten seconds.
    await until(async () => ((await command(sentinel, 'SENTINEL', 'REPLICAS', 'signals')) as unknown[]).length === 1, {
      what: 'the Sentinel knows the replica',
    })
    const nowhere = await freePort()
    const url = `redis+sentinel://127.0.0.1:${nowhere},127.0.0.1:${sentinel}/signals`
    const [here, there] = [openSignal(url), openSignal(url)]
    const heard: string[] = []
    await there.subscribe('before', (message) => void heard.push(message))
    await reaches(here, there)
    await primary[Symbol.asyncDispose]()
    await until(
      () => {
        here.publish('before', 'after')
        return heard.length > 0
      },
      { what: 'the subscription of before hears again' },
    )
    await reaches(here, there)
    expect(here.connected && there.connected).toBe(true)
  },
)

test.runIf(areProgramsThere())(
  'over a cluster of Redis: each node will do, and another one if it is gone',
  async () => {
    const ports = [await freePort(), await freePort(), await freePort()]
    // The bus of a node has its own port.
    const nodes = await Promise.all(
      ports.map(async (port) =>
        startServer([
          ...[
            ...COMMON,
            '--port',
            String(port),
            '--cluster-enabled',
            'yes',
            '--cluster-port',
            String(await freePort()),
          ],
          ...['--cluster-config-file', 'nodes.conf', '--cluster-node-timeout', '1000'],
          ...['--cluster-require-full-coverage', 'no', '--cluster-allow-pubsubshard-when-down', 'yes'],
        ]),
      ),
    )
    for (const port of ports) await answers(port)
    await Promise.all(
      ports.map((port, i) =>
        command(port, 'CLUSTER', 'ADDSLOTSRANGE', String(i * 5461), String(Math.min(16_383, i * 5461 + 5460))),
      ),
    )
    for (const port of ports.slice(1)) {
      const [bus] = /(?<=cport=)\d+/.exec('') ?? []
      const nodesOf = String(await command(port, 'CLUSTER', 'NODES'))
      const busPort = bus ?? /@(\d+)/.exec(nodesOf)?.[1] ?? ''
      await command(ports[0] ?? 0, 'CLUSTER', 'MEET', '127.0.0.1', String(port), busPort)
    }
    await until(async () => String(await command(ports[2] ?? 0, 'CLUSTER', 'INFO')).includes('cluster_state:ok'), {
      what: 'the cluster is formed',
    })
    const [a, b, c] = ports
    const here = openSignal(`redis+cluster://127.0.0.1:${a},127.0.0.1:${b},127.0.0.1:${c}`)
    const there = openSignal(`redis+cluster://127.0.0.1:${b},127.0.0.1:${c},127.0.0.1:${a}`)
    const heard: string[] = []
    await there.subscribe('before', (message) => void heard.push(message))
    await reaches(here, there)
    await nodes[0]?.[Symbol.asyncDispose]()
    await until(
      () => {
        here.publish('before', 'after')
        return heard.length > 0
      },
      { what: 'the subscription of before hears again' },
    )
  },
)

test.runIf(areProgramsThere())('over TLS, as a user with few rights', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-redis-tls-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const authority = await createAuthority(folder)
  const pair = await authority.issue('redis')
  const other = await ownedFolder()
  onTestFinished(() => other[Symbol.asyncDispose]())
  const elsewhere = await createAuthority(other.path)
  const [cert, key] = [join(pair, 'tls.crt'), join(pair, 'tls.key')]
  // The server runs as another user.
  if (OWNER.uid !== undefined) {
    for (const path of [folder, pair]) await chmod(path, 0o755)
    await chmod(key, 0o644)
  }
  const port = await freePort()
  await startServer([
    ...[...COMMON, '--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'yes'],
    ...['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', authority.caFile],
    ...['--user', 'default', 'off', '--user', 'phaseline', 'on', '>p@ss', '&*', '-@all', '+@connection', '+@pubsub'],
  ])
  const files = `cert=${encodeURIComponent(cert)}&key=${encodeURIComponent(key)}`
  const at = `127.0.0.1:${port}`
  const trusted = `cacert=${encodeURIComponent(authority.caFile)}&${files}`
  const signal = openSignal(`rediss://phaseline:${encodeURIComponent('p@ss')}@${at}?${trusted}`)
  await reaches(signal, signal)
  const refused = [
    `rediss://phaseline:wrong@${at}?${trusted}`,
    `rediss://phaseline:p%40ss@${at}?cacert=${encodeURIComponent(elsewhere.caFile)}&${files}`,
  ]
  for (const url of refused) {
    const warnings: string[] = []
    const telling = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })
    const closed = createRedisSignal({ url, logger: telling })
    onTestFinished(() => closed.close())
    await until(() => warnings.length > 0, { what: 'it says that it cannot connect' })
    expect(closed.connected).toBe(false)
    expect(warnings.join('')).not.toContain('p@ss')
  }
})
