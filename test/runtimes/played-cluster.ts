import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { KubeConfig, type V1Pod, type V1PodStatus } from '@kubernetes/client-node'
import { type WebSocket, WebSocketServer } from 'ws'
import { openKubernetesRuntime } from '../../src/families/pipelines/agents/kubernetes/kubernetes-runtime.ts'
import { readSettings } from '../../src/families/pipelines/agents/kubernetes/settings.ts'
import { URL as API, usualClones } from './place.ts'

/** A status refuses the handshake; a function serves the command. */
export type Exec = number | ((socket: WebSocket, command: readonly string[]) => void)

const CHANNELS = { stdout: 1, status: 3 } as const
export const say = (channel: keyof typeof CHANNELS, content: string | object): Buffer =>
  Buffer.concat([
    Buffer.from([CHANNELS[channel]]),
    Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
  ])
const succeed = (socket: WebSocket): void => socket.send(say('status', { status: 'Success' }))

/**
 * An API server without a cluster, for answers and moments that a real one rarely has: commands do as a test says.
 * @param status of a pod that is created
 */
export async function playedCluster(status: V1PodStatus = RUNNING) {
  const objects = new Map<string, V1Pod>()
  const watches = new Set<ServerResponse>()
  const asked: string[] = []
  const beforeDeletion: (() => void)[] = []
  const execs: Exec[] = []
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v4.channel.k8s.io' })
  let version = 0
  const store = (path: string, object: V1Pod): V1Pod => {
    version += 1
    const metadata = { uid: randomUUID(), ...object.metadata, resourceVersion: String(version) }
    const stored = { ...object, metadata }
    objects.set(path, stored)
    return stored
  }
  /** A number is the status of a refusal. */
  const answer = async (request: IncomingMessage): Promise<object | number> => {
    const path = (request.url ?? '').replace(/\?.*/, '')
    asked.push(`${request.method} ${path}`)
    const body = request.method === 'GET' ? null : ((await json(request)) as V1Pod & Deletion)
    if (request.method === 'DELETE') beforeDeletion.shift()?.()
    const found = objects.get(path)
    if (request.method === 'POST' && body) {
      const at = `${path}/${body.metadata?.name}`
      if (objects.has(at)) return 409
      return store(at, path.endsWith('/pods') ? { ...body, status } : body)
    }
    if (request.method === 'PATCH' && found)
      return store(path, { ...found, metadata: { ...found.metadata, ...body?.metadata } })
    if (request.method === 'DELETE' && found) {
      const expected = Object.entries(body?.preconditions ?? {})
      if (expected.some(([name, value]) => found.metadata?.[name as 'uid'] !== value)) return 409
      objects.delete(path)
    }
    return path.endsWith('/pods') ? { metadata: { resourceVersion: '1' }, items: [] } : (found ?? 404)
  }
  const server = createServer(async (request, response) => {
    if (request.url?.includes('watch=true')) {
      watches.add(response)
      return void response.writeHead(200).flushHeaders()
    }
    const given = await answer(request)
    if (typeof given === 'number') response.writeHead(given).end(JSON.stringify({ reason: 'Refused' }))
    else response.end(JSON.stringify(given))
  })
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    const exec = execs.shift() ?? succeed
    if (typeof exec === 'number') return void socket.end(`HTTP/1.1 ${exec} No\r\ncontent-length: 0\r\n\r\n`)
    const command = new URL(request.url ?? '', 'http://localhost').searchParams.getAll('command')
    sockets.handleUpgrade(request, socket, head, (connected) => exec(connected, command))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const config = new KubeConfig()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  config.loadFromClusterAndUser({ name: 'one', server: url, skipTLSVerify: true }, { name: 'runtime' })
  const runtime = openKubernetesRuntime({
    ...{ config, namespace: 'shop', instance: 'shop', replica: 'one', url: API, settings: readSettings({}) },
    ...{ clone: usualClones(), cloneImage: null, artifactImage: null, onProblem: () => {} },
  })
  return {
    ...{ runtime, objects, store, watches, asked, beforeDeletion, sockets: sockets.clients },
    /** How the next commands are answered; later ones succeed. */
    answers: (...next: readonly Exec[]) => void execs.push(...next),
    /** All its watches report this state of a pod. */
    tell(object: V1Pod) {
      for (const watch of watches) watch.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`)
    },
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]()
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Deletion {
  readonly preconditions?: Readonly<Record<string, string>>
}
const state = { running: {} }
const container = (name: string) => ({ ...{ name, state, image: '', imageID: '', ready: true, restartCount: 0 } })
export const RUNNING: V1PodStatus = {
  phase: 'Running',
  initContainerStatuses: [container('takes')],
  containerStatuses: [container('leaves')],
}
