import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installations } from '../../src/cli/manifests/installations.ts'
import { loadDocuments } from '../../src/cli/manifests/load-documents.ts'
import { filesOfArtifact } from '../../src/cli/manifests/oci-source.ts'
import type { Io } from '../../src/cli/terminal/io.ts'
import type { Manifest } from '../../src/manifest/index.ts'
import { startRegistry, type TestRegistry } from '../testkit/registry.ts'

/** Manifests of artifacts, in a real registry. */

const FLUX = 'application/vnd.cncf.flux.content.v1.tar+gzip'
const MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n'

let registry: TestRegistry | null
beforeAll(async () => {
  registry = await startRegistry()
})
afterAll(() => registry?.[Symbol.asyncDispose]())

type Entry = readonly [name: string, content?: string, header?: Partial<Header>]
async function layer(...entries: readonly Entry[]) {
  const tar = pack()
  for (const [name, content = '', header = {}] of entries) tar.entry({ name, ...header }, content)
  tar.finalize()
  return { mediaType: FLUX, content: gzipSync(await buffer(tar)) }
}

test('an artifact is read by its digest, with the credentials of Docker', async (context) => {
  if (!registry) return context.skip()
  const env = { DOCKER_CONFIG: dirname(registry.credentials) }
  const reference = await registry.push('shop/manifests', [
    await layer(
      ['./', '', { type: 'directory' }],
      ['./b/two.yaml', MAP],
      ['./a.yaml', 'a'],
      ['./README.md', 'no manifest'],
    ),
  ])
  expect(await filesOfArtifact(reference, env)).toEqual([
    { path: 'README.md', text: 'no manifest' },
    { path: 'a.yaml', text: 'a' },
    { path: 'b/two.yaml', text: MAP },
  ])
  await expect(filesOfArtifact(reference, { DOCKER_CONFIG: '/nowhere' })).rejects.toThrow('answered 401')
  const tagged = reference.replace(/@.*/, ':latest')
  await expect(filesOfArtifact(tagged, env)).rejects.toThrow('a tag may be another artifact tomorrow')
  const gone = reference.replace(/.{8}$/, '00000000')
  await expect(filesOfArtifact(gone, env)).rejects.toThrow('answered 404')
})

test('a manifest sends the texts of an artifact, or says why it cannot', async (context) => {
  if (!registry) return context.skip()
  const io = { stdin: process.stdin, env: { DOCKER_CONFIG: dirname(registry.credentials) } } as unknown as Io
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-oci-source-'))
  const load = async (oci: string) => {
    const file = join(folder, 'shop.yaml')
    const deployItems = [{ name: 'it', type: 'kubernetes-manifest', config: { manifests: [{ oci }] } }]
    await writeFile(file, JSON.stringify({ name: 'shop', spec: { deployItems } }))
    const loaded = await loadDocuments(io, { file: [file], kinds: [installations] })
    return loaded.ok
      ? (loaded.value[0]?.document as Manifest | undefined)?.spec.deployItems?.[0]?.config
      : loaded.refusal.fields?.map(({ message }) => message)
  }
  const { push } = registry
  const pushed = await push('shop/texts', [await layer(['b.yml', `${MAP}# \${HOME}`], ['a.yaml', MAP], ['c.md', 'no'])])
  expect(await load(pushed)).toEqual({ manifests: [MAP, `${MAP}# $\${HOME}`] })
  expect(await load('oci://example.com/a:latest')).toEqual([expect.stringContaining('a tag may be another artifact')])
  expect(await load(await push('shop/texts', [await layer(['x/kustomization.yaml', MAP])]))).toEqual([
    expect.stringContaining('holds a kustomization, which is not built from an artifact'),
  ])
  expect(await load(await push('shop/texts', [await layer(['c.md', 'no'])]))).toEqual([
    expect.stringContaining('holds no .yaml, .yml or .json file'),
  ])
  await rm(folder, { recursive: true })
})

test('an artifact that is too large, of another form, or leads out of its folder is refused', async (context) => {
  if (!registry) return context.skip()
  const env = { DOCKER_CONFIG: dirname(registry.credentials) }
  const { push } = registry
  const refusal = async (...layers: Parameters<typeof push>[1]) =>
    await filesOfArtifact(await push('shop/hostile', layers), env).catch(
      (error: Error) => `${error.name}: ${error.message}`,
    )
  expect(await refusal(await layer(['a.yaml', 'x'.repeat(2 * 1024 * 1024)]))).toMatch(/more than 1 MiB unpacked/)
  expect(await refusal(await layer(['../a.yaml', MAP]))).toMatch(/outside of its folder: "\.\.\/a\.yaml"/)
  expect(await refusal(await layer(['/etc/a.yaml', MAP]))).toMatch(/outside of its folder/)
  expect(await refusal(await layer(['a.yaml', '', { type: 'symlink', linkname: '/etc/passwd' }]))).toMatch(
    /neither a file/,
  )
  expect(await refusal(await layer(...Array.from({ length: 1_001 }, (_, i) => [`${i}.yaml`] as const)))).toMatch(
    /1000 entries/,
  )
  expect(await refusal(await layer(['a.yaml']), await layer(['b.yaml']))).toMatch(/not one layer tar\+gzip/)
  expect(await refusal({ mediaType: 'text/plain', content: Buffer.from(MAP) })).toMatch(/not one layer/)
  expect(await refusal({ mediaType: FLUX, content: Buffer.from(MAP) })).toMatch(/no gzip/)
  expect(await refusal({ mediaType: FLUX, content: gzipSync('x'.repeat(600)) })).toMatch(/no tar archive/)
  const whole = gzipSync(Buffer.alloc(1024), { level: 0 })
  const noise = Buffer.concat([whole, Buffer.alloc(1024 * 1024)])
  expect(await refusal({ mediaType: FLUX, content: noise })).toMatch(/larger than 1 MiB/)
})

test('a registry may name a server for tokens, which gets the credentials; content of another digest is refused', async (context) => {
  if (!registry) return context.skip()
  const { host } = registry
  const { auths } = JSON.parse(await readFile(registry.credentials, 'utf8')) as {
    auths: Record<string, { auth: string }>
  }
  const basic = `Basic ${auths[host]?.auth}`
  const asked: string[] = []
  let isForged = false
  // In front of the registry, as the ones of clouds are.
  const front = createServer(async (incoming, outgoing) => {
    const { authorization = '' } = incoming.headers
    const url = incoming.url ?? ''
    asked.push(`${url.split('/').slice(0, 4).join('/')} ${authorization}`)
    if (url.startsWith('/token'))
      return outgoing.writeHead(authorization === basic ? 200 : 401).end(JSON.stringify({ token: 'a-token' }))
    if (authorization !== 'Bearer a-token') {
      const challenge = `Bearer realm="http://${incoming.headers.host}/token",service="test",scope="repository:shop/pull"`
      return outgoing.writeHead(401, { 'www-authenticate': challenge }).end()
    }
    const headers = { authorization: basic, accept: incoming.headers.accept }
    const behind = request(`http://${host}${url}`, { headers }).end()
    const [answer] = await once(behind, 'response')
    const content = await buffer(answer)
    return outgoing.writeHead(answer.statusCode).end(isForged ? Buffer.concat([content, Buffer.from(' ')]) : content)
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  const there = await registry.push('shop/tokens', [await layer(['a.yaml', MAP])])
  const address = `127.0.0.1:${(front.address() as AddressInfo).port}`
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-docker-'))
  await writeFile(`${folder}/config.json`, JSON.stringify({ auths: { [address]: auths[host] } }))
  const env = { DOCKER_CONFIG: folder }
  const reference = there.replace(host, address)
  expect(await filesOfArtifact(reference, env)).toEqual([{ path: 'a.yaml', text: MAP }])
  expect(asked.filter((one) => one.startsWith('/token?service=test&scope=repository'))).toHaveLength(1)
  await expect(filesOfArtifact(reference, {})).rejects.toThrow('/token answered 401')
  isForged = true
  await expect(filesOfArtifact(reference, env)).rejects.toThrow('something of another digest')
  front.closeAllConnections()
  front.close()
  await rm(folder, { recursive: true })
})
