import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { KubernetesApi, troubleOf, unless } from '../../src/agents/kubernetes/api.ts'
import { resourcePath } from '../../src/agents/kubernetes/paths.ts'

const PODS = resourcePath('v1', 'pods', { namespace: 'shop' })
/** By the token that leads to each. The last one is empty, as some API servers write it. */
const PAGES: Readonly<Record<string, object>> = {
  '': { metadata: { continue: 'two', resourceVersion: '7' }, items: ['a', 'b'] },
  two: { metadata: { continue: 'three', resourceVersion: '7' }, items: ['c'] },
  three: { metadata: { resourceVersion: '7' }, items: null },
}

/** @param statuses what it answers to the first patches; then it succeeds */
async function startApiServer(statuses: readonly number[] = []) {
  const queries: string[] = []
  const refusals = statuses.values()
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    queries.push(searchParams.toString())
    const refusal = request.method === 'PATCH' ? refusals.next().value : undefined
    if (refusal) response.writeHead(refusal).end(JSON.stringify({ reason: refusal === 409 ? 'Conflict' : 'Failed' }))
    else if (pathname === PODS) response.end(JSON.stringify(PAGES[searchParams.get('continue') ?? '']))
    else response.writeHead(404).end(JSON.stringify({ reason: 'NotFound' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const config = new KubeConfig()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  config.loadFromClusterAndUser({ name: 'one', server: url, skipTLSVerify: true }, { name: 'agent' })
  const closing = new AbortController()
  const said: string[] = []
  const onRetry = (error: Error): void => void said.push(troubleOf(error))
  return {
    queries,
    said,
    api: new KubernetesApi(config, closing.signal, onRetry, () => said.push('answered')),
    [Symbol.dispose]() {
      closing.abort()
      server.closeAllConnections()
      server.close()
    },
  }
}

test('a list is read page by page, as far as it is needed', async () => {
  using at = await startApiServer()
  const read: (readonly unknown[])[] = []
  for await (const { items } of at.api.pages(PODS, { query: { labelSelector: 'app=web' } })) read.push(items)
  expect(read).toEqual([['a', 'b'], ['c'], []])
  expect(at.queries).toEqual(
    ['', 'two', 'three'].map((next) => `labelSelector=app%3Dweb&limit=500${next && `&continue=${next}`}`),
  )
  at.queries.length = 0
  for await (const { items } of at.api.pages(PODS)) if (items.length > 0) break
  expect(at.queries).toEqual(['limit=500'])
})

test('an expected status is null, others are errors', async () => {
  using at = await startApiServer()
  const missing = resourcePath('apps/v1', 'replicasets', { name: 'a/b' })
  expect(missing).toBe('/apis/apps/v1/replicasets/a%2Fb')
  expect(await unless([409, 404], at.api.get(missing))).toBeNull()
  await expect(unless([409], at.api.get(missing))).rejects.toThrow(expect.objectContaining({ status: 404 }))
})

test('a race after an outage is a first race, and an apply that fails again and again is given up', async () => {
  const apply = async (statuses: readonly number[]) => {
    using at = await startApiServer(statuses)
    return await at.api.apply(PODS, {}, {})
  }
  const refused = (status: number) => expect.objectContaining({ status })
  await Promise.all([
    expect(apply([...Array<number>(5).fill(503), 409, 409, 500, 500, 409])).resolves.toMatchObject({
      items: ['a', 'b'],
    }),
    expect(apply(Array<number>(5).fill(409))).rejects.toThrow(refused(409)),
    expect(apply([503, ...Array<number>(4).fill(500)])).rejects.toThrow(refused(500)),
  ])
})

test('what makes a request be repeated is named by the answer, and no longer once there is another', async () => {
  using at = await startApiServer([500, 503])
  await at.api.apply(PODS, {}, {})
  expect(at.said).toEqual([
    'the API server answers with 500: Failed',
    'the API server answers with 503: Failed',
    'answered',
  ])
  using failing = await startApiServer(Array<number>(4).fill(500))
  await expect(failing.api.apply(PODS, {}, {})).rejects.toThrow()
  expect(failing.said.at(-1)).toBe('answered')
  expect(troubleOf(new TypeError('fetch failed'))).toBe('the API server does not answer: fetch failed')
})
