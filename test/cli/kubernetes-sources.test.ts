import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installations } from '../../src/cli/manifests/installations.ts'
import { loadDocuments } from '../../src/cli/manifests/load-documents.ts'
import type { Io } from '../../src/cli/terminal/io.ts'
import { parseText } from '../../src/core/expression.ts'
import type { Manifest } from '../../src/manifest/index.ts'

/** `manifests` of a cluster's items that name files, folders, kustomizations and addresses. */

const MAP = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`
const SCRIPT = `${MAP('script')}data: { run: "echo \${HOME} $\${PAID}" }\n`
const KUBECTL = process.env.PHASELINE_TEST_KUBECTL ?? 'kubectl'
const hasKubectl = spawnSync(KUBECTL, ['kustomize', '--help']).status === 0

let folder: string
let origin: string
const server = createServer((request, response) => {
  response.writeHead(request.url === '/gone' ? 404 : 200).end(MAP('fetched'))
})
const { PATH } = process.env
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phaseline-sources-'))
  if (KUBECTL !== 'kubectl') process.env.PATH = `${dirname(KUBECTL)}${delimiter}${PATH}`
  await mkdir(join(folder, 'app/k8s'), { recursive: true })
  await mkdir(join(folder, 'app/overlay'))
  await writeFile(join(folder, 'app/one.yaml'), SCRIPT)
  await writeFile(
    join(folder, 'app/k8s/b.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } }),
  )
  await writeFile(join(folder, 'app/k8s/a.yml'), MAP('a'))
  await writeFile(join(folder, 'app/k8s/README.md'), 'no manifest')
  await writeFile(join(folder, 'app/overlay/kustomization.yaml'), 'namePrefix: big-\nresources: [map.yaml]\n')
  await writeFile(join(folder, 'app/overlay/map.yaml'), MAP('map'))
  await writeFile(join(folder, 'app/large.yaml'), `${MAP('large')}data: { a: ${'x'.repeat(15 * 1_024 * 1_024)} }\n`)
  await writeFile(join(folder, 'secret.yaml'), MAP('of-somebody-else'))
  await symlink('../secret.yaml', join(folder, 'app/link.yaml'))
  server.listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  process.env.PATH = PATH
  server.close()
  await rm(folder, { recursive: true, force: true })
})

/** The `manifests` as they are sent, or the paths and messages of the problems. */
async function load(...sources: readonly unknown[]) {
  const items = [{ name: 'objects', type: 'kubernetes-manifest', config: { manifests: sources } }]
  const spec = { installations: [{ name: 'inner', spec: { deployItems: items } }] }
  const file = join(folder, 'app/shop.yaml')
  await writeFile(file, JSON.stringify({ name: 'shop', spec }))
  const env = { DOCKER_CONFIG: folder, PATH: process.env.PATH, SHOWN: 'to-be-seen' }
  const loaded = await loadDocuments({ stdin: process.stdin, env } as unknown as Io, {
    file: [file],
    kinds: [installations],
  })
  if (!loaded.ok) return loaded.refusal.fields?.map(({ path, message }) => `${path}: ${message}`)
  const manifest = loaded.value[0]?.document as Manifest | undefined
  const [item] = manifest?.spec.installations?.[0]?.spec.deployItems ?? []
  return (item?.config as { manifests: unknown[] } | undefined)?.manifests
}

test('sources are sent as texts, in their order, among objects and texts', async () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inline' }, file: 'a field of the object' }
  const sha256 = createHash('sha256').update(MAP('fetched')).digest('hex')
  const sent = await load(object, { file: 'one.yaml' }, { folder: 'k8s' }, { url: `${origin}/a`, sha256 }, 'kind: List')
  expect(sent).toEqual([
    object,
    expect.stringContaining('name: script'),
    MAP('a'),
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}',
    MAP('fetched'),
    'kind: List',
  ])
  // The server resolves expressions: what stands in a file is none.
  expect(parseText(String(sent?.[1]))).toMatchObject({ parts: [SCRIPT] })
})

test.runIf(hasKubectl)('a kustomization is built', async () => {
  expect(await load({ kustomize: 'overlay' })).toEqual([expect.stringContaining('name: big-map')])
  expect(await load({ kustomize: 'k8s' })).toEqual([expect.stringMatching(/kustomize .*kustomization/s)])
})

// Some versions of kustomize write variables of their environment into config maps.
test('a kustomization is built with the variables of the command, and none besides', async () => {
  const tools = join(folder, 'tools')
  await mkdir(tools)
  const printed = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: m }\ndata: { v: "$SHOWN$HIDDEN" }\n`
  await writeFile(join(tools, 'kubectl'), `#!/bin/sh\ncat <<END\n${printed}END\n`, { mode: 0o755 })
  const { PATH } = process.env
  Object.assign(process.env, { PATH: `${tools}${delimiter}${PATH}`, HIDDEN: 'not-to-be-seen' })
  try {
    expect(await load({ kustomize: 'overlay' })).toEqual([printed.replace('$SHOWN$HIDDEN', 'to-be-seen')])
  } finally {
    process.env.PATH = PATH
    delete process.env.HIDDEN
  }
})

test('a source that cannot be read is named with its path', async () => {
  const sha256 = '0'.repeat(64)
  const problems = await load(
    ...[{ file: 'missing.yaml' }, { file: '../secret.yaml' }, { file: 'link.yaml' }, { folder: 'overlay/none' }],
    ...[{ kustomize: '..' }, { url: `${origin}/a` }, { url: `${origin}/a`, sha256 }, { url: `${origin}/gone`, sha256 }],
    ...[
      { url: 'file:///etc/passwd', sha256 },
      { url: 'http://127.0.0.1:1/', sha256 },
    ],
    ...[{ file: 'one.yaml', folder: 'k8s' }, { file: 3 }, { file: 'one.yaml', sha256 }],
    ...[{ folder: 'overlay' }, { file: 'overlay/kustomization.yaml' }, { file: 'large.yaml' }],
  )
  expect(problems?.[0]).toMatch(
    /shop\.yaml:1:\d+: spec\.installations\.0\.spec\.deployItems\.0\.config\.manifests\.0: /,
  )
  expect(problems).toEqual(
    [
      /Cannot read .*missing\.yaml/,
      /outside of the folder of the manifest/,
      /outside of the folder of the manifest/,
      /Cannot read the folder overlay\/none/,
      /outside of the folder of the manifest/,
      /needs its sha256/,
      /has the sha256 [0-9a-f]{64}, not/,
      /answered 404/,
      /begins with https/,
      /cannot be read/,
      /has one of file, folder, kustomize, url/,
      /has one of file, folder, kustomize, url/,
      /Only a url has a sha256/,
      /overlay is a kustomization: write `kustomize`/,
      /overlay\/kustomization\.yaml: apiVersion must be there/,
      /overlay\/kustomization\.yaml: kind must be there/,
      /overlay\/kustomization\.yaml: metadata must be there/,
      /large\.yaml is larger than 1024 KiB/,
    ].map((message) => expect.stringMatching(message)),
  )
})
