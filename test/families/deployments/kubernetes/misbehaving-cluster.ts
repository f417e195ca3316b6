import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { KubeConfig } from '@kubernetes/client-node'
import { ownKubeconfig } from '../../../../src/agents/kubernetes/kubeconfig.ts'
import { mulberry32 } from '../../../testkit/mulberry32.ts'

/** `…_AFTER`: the API server has executed the request, and the answer is lost. */
const FAULTS = ['BUSY', 'AWAY', 'SLOW', 'CUT', 'CUT_AFTER', 'ETCD', 'ETCD_AFTER', 'EXPIRED', 'CONFLICT'] as const
type Fault = (typeof FAULTS)[number]

interface Misbehaving extends AsyncDisposable {
  /** The file of a kubeconfig that leads through the faults. */
  readonly kubeconfig: string
  /** How often each has happened. */
  readonly faults: ReadonlyMap<Fault, number>
  /** @param share of requests with a fault, from 0 to 1 @param awayGroups the servers of groups `away.…` are away */
  misbehave(share: number, awayGroups: boolean): void
}

/** An answer of an API server. */
const status = (code: number, reason: string, message: string) => ({
  code,
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, code }),
})
const ANSWERS: Readonly<Partial<Record<Fault, ReturnType<typeof status>>>> = {
  BUSY: status(429, 'TooManyRequests', 'the server has received too many requests and has asked us to try again later'),
  AWAY: status(503, 'ServiceUnavailable', 'the server is currently unable to handle the request'),
  ETCD: status(500, 'InternalError', 'etcdserver: request timed out'),
  ETCD_AFTER: status(500, 'InternalError', 'etcdserver: request timed out'),
  EXPIRED: status(410, 'Expired', 'The provided continue parameter is too old to display a consistent list result.'),
  CONFLICT: status(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version'),
}
const DONE: ReadonlySet<Fault> = new Set(['CUT_AFTER', 'ETCD_AFTER'])
const SLOW_MS = 1_500
/** Lists have several pages even in a small cluster. */
const PAGE = '3'

/** The cluster of the tests, behind a proxy that does by `seed` what clusters do on bad days. */
export async function misbehavingCluster(seed: number): Promise<Misbehaving> {
  const random = mulberry32(seed)
  const config = ownKubeconfig()
  const target = new URL(config.getCurrentCluster()?.server ?? '')
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  const faults = new Map<Fault, number>()
  let share = 0
  let isAway = false

  function faultOf({ method, url = '' }: IncomingMessage): Fault | null {
    if (random() >= share) return null
    const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? null
    const isPossible = fault === 'EXPIRED' ? url.includes('continue=') : fault !== 'CONFLICT' || method === 'PATCH'
    return isPossible ? fault : null
  }

  async function forward(incoming: IncomingMessage, body: Buffer) {
    const options: RequestOptions = { agent, method: incoming.method ?? 'GET' }
    await config.applyToHTTPSOptions(options)
    const url = new URL((incoming.url ?? '/').replace(/\blimit=500\b/, `limit=${PAGE}`), target)
    const { authorization = '' } = { ...(options.headers as Readonly<Record<string, string>>), ...lowered(options) }
    const headers = { ...incoming.headers, host: target.host, ...(authorization && { authorization }) }
    const outgoing = request(url, { ...options, agent, headers })
    outgoing.end(body)
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    return { answer, content: await buffer(answer) }
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    // A group whose server is away for everybody would keep namespaces of other tests from being deleted.
    const fault = isAway && incoming.url?.startsWith('/apis/away.') ? 'AWAY' : faultOf(incoming)
    if (fault) faults.set(fault, (faults.get(fault) ?? 0) + 1)
    const body = await buffer(incoming)
    if (fault === 'CUT') return void incoming.socket.destroy()
    if (fault === 'SLOW') await delay(random() * SLOW_MS)
    const reply = fault && ANSWERS[fault]
    if (fault && DONE.has(fault)) await forward(incoming, body)
    if (fault === 'CUT_AFTER') return void incoming.socket.destroy()
    if (reply) {
      outgoing.writeHead(reply.code, { 'content-type': 'application/json', 'retry-after': '1' }).end(reply.body)
      return
    }
    const { answer, content } = await forward(incoming, body)
    outgoing.writeHead(answer.statusCode ?? 500, { 'content-type': answer.headers['content-type'] ?? '' }).end(content)
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => incoming.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-misbehaving-'))
  const kubeconfig = join(folder, 'config')
  const given = new KubeConfig()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  given.loadFromClusterAndUser({ name: 'misbehaving', server: url, skipTLSVerify: true }, { name: 'nobody' })
  await writeFile(kubeconfig, given.exportConfig())
  return {
    kubeconfig,
    faults,
    misbehave(next, awayGroups) {
      share = next
      isAway = awayGroups
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      agent.destroy()
      await rm(folder, { recursive: true })
    },
  }
}

const lowered = ({ headers = {} }: RequestOptions): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
