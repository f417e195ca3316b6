import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ChartSources, chartArguments, isWithin } from '../../../../src/families/deployments/agents/helm/charts.ts'
import { type Helm, runHelm } from '../../../../src/families/deployments/agents/helm/helm.ts'
import { releaseOf } from '../../../../src/families/deployments/agents/helm/rendered.ts'
import { readKubernetes } from '../../../../src/manifest/read-kubernetes.ts'
import { expr, refusal } from '../../../testkit/deployments.ts'
import { createWorld, USER } from '../../../testkit/world.ts'

/** Not Helm, but a script in its place, which does what Helm should not: it hangs, floods, or tells what it was given. */
async function withScript<T>(lines: string, use: (helm: Helm, folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-script-'))
  const program = join(folder, 'script')
  await writeFile(program, `#!/bin/sh\n${lines}\n`)
  await chmod(program, 0o755)
  const env = { PATH: process.env.PATH, PHASELINE_TOKEN: 'marker', KUBECONFIG: '/marker', HELM_PLUGINS: '/marker' }
  try {
    return await use({ program, env, registries: undefined, timeoutMs: 30_000, maxBytes: 10_000 }, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}
const run = (helm: Helm, signal = new AbortController().signal) =>
  runHelm(helm, { args: ['template', 'it'], input: '{"password":"secret value"}', signal })

test('values come by standard input only; the environment is that of nobody, and is gone afterwards', async () => {
  const { said, home } = await withScript(
    'echo "$@"; env; tr "\\000" "\\n" < /proc/$$/cmdline; cat >&2',
    async (helm) => {
      const { stdout, stderr } = await run(helm)
      expect(stderr).toBe('{"password":"secret value"}')
      return { said: stdout, home: /^HOME=(.*)$/m.exec(stdout)?.[1] ?? '' }
    },
  )
  expect(said).toContain('template it')
  expect(said).not.toMatch(/secret|marker/)
  expect(said).toContain(`HELM_CACHE_HOME=${home}/cache`)
  await expect(readFile(home)).rejects.toThrow('ENOENT')
})

test('a program that hangs, floods, fails or is absent is ended, and said', async () => {
  const failure = (lines: string, change: Partial<Helm> = {}) =>
    withScript(lines, (helm) => run({ ...helm, ...change }).then(String, (error: Error) => error.message))
  expect(await failure('exec sleep 1000', { timeoutMs: 200 })).toBe('Helm was ended after 200 milliseconds.')
  expect(await failure('while :; do echo flood; done')).toBe('Helm has written more than 10000 bytes.')
  expect(await failure('echo Error: no >&2; exit 1')).toBe('Error: no')
  expect(await failure('exit 7')).toBe('Helm has ended with exit code 7.')
  expect(await failure('', { program: '/no/such/helm' })).toBe('Helm could not be started: ENOENT.')
  const stop = new AbortController()
  const stopped = withScript('exec sleep 1000', (helm) => run(helm, stop.signal))
  stop.abort()
  await expect(stopped).rejects.toThrow()
})

test('a chart cannot lead out of its folder, and is fetched from nowhere else than the operator says', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-charts-'))
  await mkdir(join(folder, 'charts/shop'), { recursive: true })
  await mkdir(join(folder, 'others'))
  await symlink(join(folder, 'others'), join(folder, 'charts/linked'))
  const sources: ChartSources = { folder: join(folder, 'charts'), repositories: ['oci://ghcr.io/shop'] }
  const of = (config: { chart: string; repo?: string; version?: string }, from = sources) =>
    chartArguments(from, config).catch((error: Error) => error.message)
  expect(await of({ chart: 'shop' })).toEqual([join(folder, 'charts/shop')])
  expect(await of({ chart: 'linked' })).toMatch(/lies outside/)
  expect(await of({ chart: '..' })).toMatch(/lies outside/)
  expect(await of({ chart: 'shop' }, { ...sources, folder: undefined })).toMatch(/without --charts/)
  expect(await of({ chart: 'oci://ghcr.io/shop/web', version: '1' })).toEqual(['oci://ghcr.io/shop/web', '--version=1'])
  expect(await of({ chart: 'oci://ghcr.io/shopping/web', version: '1' })).toMatch(/not fetched from oci:/)
  expect(isWithin('https://a.example/x', 'https://a.example')).toBe(true)
  expect(isWithin('https://a.example.evil/x', 'https://a.example')).toBe(false)
  expect(isWithin('http://a.example/x', 'https://a.example')).toBe(false)
  expect(isWithin('https://a.example/x/../y', 'https://a.example/x/')).toBe(false)
  expect(isWithin('oci://h/x/y', 'oci://h/x/')).toBe(true)
  await rm(folder, { recursive: true })
})

test('tests are left out of a release, and other hooks if they may be; definitions are marked to stay', () => {
  const object = (kind: string, annotations: Readonly<Record<string, string>> = {}) => ({
    ...{ apiVersion: 'v1', kind, metadata: { name: 'x', annotations } },
  })
  const hook = (name: string) => object('Job', { 'helm.sh/hook': name })
  expect(releaseOf([object('Secret'), hook('test, test-failure')], {})).toEqual({
    objects: [object('Secret')],
    leftOut: ['Job x'],
  })
  expect(() => releaseOf([hook('test,post-install')], {})).toThrow('Job x')
  expect(releaseOf([hook('pre-install')], { hooks: 'skip' })).toEqual({ objects: [], leftOut: ['Job x'] })
  const both = [hook('pre-install'), hook('test'), hook('pre-delete')]
  expect(releaseOf(both, { hooks: 'run' })).toEqual({ objects: [hook('pre-install')], leftOut: ['Job x', 'Job x'] })
  const definition = object('CustomResourceDefinition', { a: 'b' })
  const kept = object('CustomResourceDefinition', { a: 'b', 'helm.sh/resource-policy': 'keep' })
  expect(releaseOf([definition], {}).objects).toEqual([kept])
  expect(releaseOf([definition], { crds: 'delete' }).objects).toEqual([definition])
  expect(releaseOf([definition], { crds: 'skip' })).toEqual({ objects: [], leftOut: ['CustomResourceDefinition x'] })
})

test('YAML is read as the tools of Kubernetes read it', () => {
  const text = 'a: 0644\nb: yes\nc: 12:30\nd: 2001-01-01\ne: &x { k: 1 }\nf: { <<: *x }\n---\n# nothing\n---\ng: 0x1f'
  expect(readKubernetes(text)).toEqual([
    { a: 0o644, b: true, c: '12:30', d: '2001-01-01', e: { k: 1 }, f: { k: 1 } },
    { g: 31 },
  ])
})

test('a config that cannot be one is refused with its paths when it is planned', async () => {
  await using world = await createWorld()
  const plan = (config: unknown) => {
    const spec = { imports: [{ name: 'chart' }], deployItems: [{ name: 'it', type: 'helm', config }] }
    return world.commands.planInstallation(USER, { create: { project: 'default', name: 'shop', spec } })
  }
  const at = (path: string) => `input.spec.deployItems.0.config${path}`
  const pathsOf = async (config: unknown) => (await refusal(plan(config))).fields.map(({ path }) => path).sort()
  const chart = expr('imports.chart')
  for (const right of [
    { chart: 'shop', values: { image: chart } },
    { chart, version: '>=1.2.0 <2', repo: 'https://charts.example.com/stable' },
    { chart: 'oci://ghcr.io/shop/web@sha256:0a' },
  ])
    expect(await plan(right)).toMatchObject({ ok: true })
  const wrong = {
    ...{ chart: '--post-renderer=x', repo: 'https://a:b@c', version: '-v', values: [], release: 'A', hooks: 'perhaps' },
    ...{ crds: true, set: {} },
  }
  expect([...new Set(await pathsOf(wrong))]).toEqual(
    ['chart', 'crds', 'hooks', 'release', 'repo', 'set', 'values'].map((name) => at(`.${name}`)),
  )
  expect(await pathsOf({ chart: '../shop' })).toEqual([at('.chart')])
  expect(await pathsOf({ chart: 'oci://ghcr.io/shop/web' })).toEqual([at('')])
  expect(await pathsOf({ chart: 'shop', repo: 'https://c' })).toEqual([at('')])
  expect(await pathsOf({ chart: 'oci://ghcr.io/x', repo: 'https://c', version: '1' })).toEqual([at('.chart')])
})
