import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HELM_SCHEMA } from '../../../../src/core/deployers/helm.ts'
import { KUBERNETES_MANIFEST_SCHEMA } from '../../../../src/core/deployers/kubernetes-manifest.ts'
import { readTemplate } from '../../../../src/families/deployments/cli/import/go-template.ts'
import { parseManifests } from '../../../../src/manifest/index.ts'
import { ConfigCheck } from '../../../../src/sandbox/check-config.ts'
import { commandLine } from '../../../cli/command.ts'

const CHECKS: ReadonlyMap<string, ConfigCheck> = new Map([
  ['kubernetes-manifest', new ConfigCheck(KUBERNETES_MANIFEST_SCHEMA)],
  ['helm', new ConfigCheck(HELM_SCHEMA)],
])
const phaseline = commandLine({})

/** Imports a folder with these files. */
async function importOf(files: Readonly<Record<string, string>>, more = '') {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-landscaper-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    const ran = await phaseline(`import landscaper ${join(folder, 'here')} ${more.replaceAll('FOLDER', folder)}`.trim())
    const parsed = ran.code === 0 ? parseManifests(ran.out) : null
    const manifests = parsed?.ok ? parsed.manifests : []
    for (const { spec } of manifests)
      for (const { name, type, config } of spec.deployItems ?? [])
        expect(CHECKS.get(type)?.problemsOf(config, name) ?? []).toEqual([])
    return { ...ran, manifests, left: ran.err.trimEnd().split('\n') }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const object = (kind: string, name: string, rest: string) =>
  `apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: shop }\n${rest}\n`

const BLUEPRINT = `
kind: Blueprint
imports:
  - { name: cluster, targetType: landscaper.gardener.cloud/kubernetes-cluster }
  - { name: map-name, type: data, schema: { type: string } }
  - { name: settings, type: data }
  - { name: replicas, type: data, default: { value: 2 } }
exports: [{ name: out, type: data }]
subinstallations: [{ file: /nested.yaml }]
deployExecutions:
  - name: default
    type: GoTemplate
    file: /items.yaml
  - name: clever
    type: GoTemplate
    template: |
      {{ range .imports.settings.hosts }}
      {{ end }}
exportExecutions:
  - name: default
    type: GoTemplate
    template: |
      exports:
        out: https://{{ index .values "deployitems" "objects" "host" }}:{{ .values.dataobjects.port }}
`
const ITEMS = `
{{- $chart := getResource .cd "name" "web-chart" }}
deployItems:
  - name: objects
    type: landscaper.gardener.cloud/kubernetes-manifest
    target: { import: cluster }
    timeout: 2m
    config:
      apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
      kind: ProviderConfiguration
      updateStrategy: patch
      readinessChecks:
        custom:
          - name: ready
            resourceSelector: [{ apiVersion: v1, kind: Service, name: web }]
            requirements:
              - { jsonPath: ".status.conditions[?(@.type == 'Ready')].status", operator: ==, values: [{ value: "True" }] }
              - { jsonPath: .spec.type, operator: in, values: [{ value: A }, { value: B }] }
      manifests:
        - policy: keep
          manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: { name: "{{ index .imports "map-name" }}", labels: { of: "{{ .imports.cluster.metadata.name }}" } }
            data:
              {{ index .imports "map-name" }}-key: a $\{x} {{ .imports.settings.colour }}
              settings: {{ .imports.settings | toJson | quote }}
      exports:
        exports:
          - key: host
            jsonPath: .spec.clusterIP
            fromResource: { apiVersion: v1, kind: Service, name: web, namespace: shop }
  - name: web
    type: landscaper.gardener.cloud/helm
    dependsOn: [objects]
    config:
      name: web
      namespace: shop
      helmDeployment: false
      chart: { ref: {{ $chart.access.imageReference }} }
      values:
        replicas: {{ .imports.replicas }}
        {{- /* those of the user */}}
        settings:
          {{- .imports.settings | toYaml | nindent 10 }}
        {{ .imports.settings | toYaml | nindent 8 }}
`
const NESTED = `
kind: InstallationTemplate
name: nested
blueprint: { ref: cd://resources/blueprint-nested }
imports:
  data: [{ name: seed, dataRef: map-name }, { name: count, dataRef: replicas }]
exports:
  data: [{ name: port, dataRef: port }]
`
const NESTED_BLUEPRINT = `
kind: Blueprint
imports: [{ name: seed, type: data }, { name: count, type: data }]
exports: [{ name: port, type: data }]
exportExecutions:
  - { name: default, type: GoTemplate, template: { exports: { port: "{{ .imports.seed }}{{ .imports.count }}" } } }
`

test('an installation with its blueprint becomes one of ours: data, targets, mappings, nested ones, policies, rules', async () => {
  const { code, out, manifests, left } = await importOf(
    {
      'here/installation.yaml': object(
        'Installation',
        'shop',
        `spec:
  blueprint: { ref: { resourceName: blueprint } }
  componentDescriptor: { ref: { componentName: example.com/shop } }
  imports:
    targets: [{ name: cluster, target: "#my-cluster" }]
    data:
      - { name: map-name, secretRef: { name: names, key: map } }
      - { name: raw, dataRef: raw-settings }
  importDataMappings: { settings: (( raw.inner )) }
  exportDataMappings: { address: { url: (( out )), fixed: 1 } }
  exports: { data: [{ name: address, dataRef: shop.address }] }
  automaticReconcile: { succeededReconcile: {}, failedReconcile: { numberOfReconciles: 3, interval: 1h30m } }`,
      ),
      'here/others.yaml': [
        object('DataObject', 'raw-settings', "data: { inner: { colour: it's } }"),
        `apiVersion: v1\nkind: Secret\nmetadata: { name: names }\nstringData: { map: top-secret }\n`,
        object('Target', 'my-cluster', 'spec: { config: { kubeconfig: "top-secret" } }'),
        `meta: { schemaVersion: v2 }\ncomponent:\n  name: example.com/shop\n  resources: [{ name: web-chart, access: { imageReference: "ghcr.io/shop/web:1.4" } }]\n`,
      ].join('---\n'),
      'root/blueprint.yaml': BLUEPRINT,
      'root/items.yaml': ITEMS,
      'root/nested.yaml': NESTED,
      'nested/blueprint.yaml': NESTED_BLUEPRINT,
    },
    '--blueprint FOLDER/root --blueprint blueprint-nested=FOLDER/nested',
  )
  expect(code).toBe(0)
  expect(manifests).toHaveLength(1)
  const [{ name, spec } = { name: '', spec: {} }] = manifests
  expect(name).toBe('shop')
  expect(spec.imports).toEqual([
    { name: 'map-name', from: 'names-map', schema: { type: 'string' } },
    { name: 'raw', from: 'raw-settings' },
  ])
  expect(spec.automaticReconcile).toEqual({
    afterSuccess: { intervalMs: 86_400_000 },
    afterFailure: { attempts: 3, intervalMs: 5_400_000 },
  })
  expect(spec.exports).toEqual([
    {
      name: 'shop-address',
      value: {
        fixed: 1,
        url: '${"https://" + string(deployItems.objects.exports["host"]) + ":" + string(installations.nested.exports.port)}'.replace(
          '["host"]',
          '.host',
        ),
      },
    },
  ])
  expect(spec.installations).toEqual([
    {
      name: 'nested',
      spec: {
        imports: [{ name: 'seed', from: 'map-name' }],
        exports: [{ name: 'port', value: `\${imports.seed}2` }],
      },
    },
  ])
  const [objects, web] = spec.deployItems ?? []
  expect(objects).toEqual({
    ...{
      name: 'objects',
      type: 'kubernetes-manifest',
      target: 'my-cluster',
      timeouts: { progressing: { ms: 120_000 } },
    },
    config: {
      manifests: [
        {
          ...{ apiVersion: 'v1', kind: 'ConfigMap' },
          metadata: { name: '${string(imports["map-name"])}', labels: { of: 'my-cluster' } },
          data: `\${{string(imports["map-name"]) + "-key": "a \${x} " + string(imports.raw.inner.colour), "settings": string(imports.raw.inner)}}`,
        },
      ],
      policies: [{ kind: 'ConfigMap', name: '${string(imports["map-name"])}', policy: 'keep' }],
      readiness: [
        {
          ...{ apiVersion: 'v1', kind: 'Service', name: 'web' },
          ready:
            'object.status.conditions.exists(entry, entry.type == "Ready" && entry.status == "True") && object.spec.type in ["A", "B"]',
        },
      ],
      exports: { host: { apiVersion: 'v1', kind: 'Service', name: 'web', namespace: 'shop', path: '.spec.clusterIP' } },
    },
  })
  expect(web).toEqual({
    ...{ name: 'web', type: 'helm', dependsOn: ['objects'] },
    config: {
      ...{ chart: 'oci://ghcr.io/shop/web', version: '1.4', release: 'web', namespace: 'shop' },
      values: { replicas: 2, settings: `\${imports.raw.inner}` },
    },
  })
  for (const what of [
    `set the data: phaseline data set raw-settings '{"inner":{"colour":"it'\\''s"}}'`,
    'set the data: phaseline data set names-map -f FILE',
    'add the target: phaseline target import my-cluster --kubeconfig FILE',
    'shop: deployExecutions, default: {{ imports.raw.inner }} is merged into a map: write its keys',
    'shop: deployExecutions, clever: {{ range .imports.settings.hosts }} decides or repeats: write what it stands for',
  ])
    expect(left).toContain(what)
  expect(out).toContain('# {{ range .imports.settings.hosts }}')
  expect(out).not.toContain('top-secret')
})

test('a folder without installations, and a blueprint that cannot be read, are named', async () => {
  expect(await importOf({ 'here/a.yaml': 'kind: Installation\n' })).toMatchObject({
    code: 2,
    err: expect.stringContaining('it has no installation of Landscaper.'),
  })
  const remote = { 'here/a.yaml': object('Installation', 'a', 'spec: { blueprint: { ref: { resourceName: x } } }') }
  expect((await importOf(remote)).left).toEqual([
    'a: its blueprint is not among the files: get its folder, and name it with --blueprint',
  ])
  expect((await importOf(remote, '--blueprint FOLDER/none')).code).toBe(2)
  expect((await importOf({ 'here/a.yaml': 'a: [' })).err).toMatch(/^INVALID_INPUT: .* cannot be imported: /)
})

/** An installation whose blueprint has one execution with this template. */
const withItems = (template: string, more = '') => ({
  'here/a.yaml': object('Installation', 'a', 'spec: { blueprint: { ref: { resourceName: x } } }'),
  'root/blueprint.yaml': `kind: Blueprint\n${more}deployExecutions: [{ name: default, type: GoTemplate, file: /items.yaml }]\n`,
  'root/items.yaml': template,
})

test.each([
  ['a text with an escape of Go alone', 'a: {{ "\\x41" }}', 'the text "\\x41" cannot be read'],
  ['a text without an end', 'a: {{ "b }}', 'the text "b cannot be read'],
  ['a negative indentation', 'a: {{ "b" | indent -1 }}', '{{ indent -1 }} has no equivalent'],
  [
    'an indentation beyond all texts',
    'a: {{ "b" | nindent 999999999999 }}',
    '{{ nindent 999999999999 }} has no equivalent',
  ],
  ['an alias without its anchor', 'a: *b', 'its YAML cannot be read: *b stands for nothing: there is no &b before it'],
  ['an alias within its anchor', 'a: &b [*b]', 'its YAML cannot be read: *b is within what it stands for.'],
  ['an action without an end', 'a: {{ "b"', 'a {{ has no }}'],
])('%s is left to a person, with the template', async (_, template, why) => {
  const { code, left, out } = await importOf(withItems(template), '--blueprint FOLDER/root')
  expect({ code, left }).toEqual({
    code: 0,
    left: [`a: deployExecutions, default: ${why}: write what it stands for`],
  })
  expect(out).toContain(`# ${template}`)
})

test('types and operators that objects of JavaScript have by themselves are no known ones', async () => {
  const names = ['__proto__', 'constructor']
  const rule = (operator: string) =>
    `{ name: ${operator}, resourceSelector: [{ kind: Job }], requirements: [{ jsonPath: .a, operator: ${operator} }] }`
  const items = [
    ...names.map((type, i) => `{ name: a${i}, type: ${type}, config: { b: 1 } }`),
    `{ name: web, type: landscaper.gardener.cloud/kubernetes-manifest, config: { manifests: [{ manifest: { kind: Job } }], readinessChecks: { custom: [${names.map(rule).join()}] } } }`,
  ]
  const { code, left } = await importOf(withItems(`deployItems: [${items.join()}]`), '--blueprint FOLDER/root')
  expect(code).toBe(0)
  expect(left).toEqual([
    ...names.map(
      (type, i) => `a: a${i}: no deployer of this product has the type ${type}: run one, or write the item anew`,
    ),
    ...names.map((operator) => `a: web: the readiness check ${operator} is for a person to write as CEL`),
  ])
})

test('a blueprint that nests itself is refused at the bound of the server', async () => {
  const own = 'subinstallations: [{ name: again, blueprint: { ref: { resourceName: x } } }]'
  const { code, err } = await importOf(withItems('deployItems: []', `${own}\n`), '--blueprint FOLDER/root')
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining('installations may be nested at most 16 deep.'),
  })
})

test('an alias within what it stands for is refused', async () => {
  const { code, err } = await importOf({ 'here/a.yaml': object('Installation', 'a', 'spec: &a { imports: *a }') })
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining('*a is within what it stands for (line '),
  })
})

test('a template without ends is read in time', () => {
  for (const part of ['{{', '{{ '.padEnd(100_000)])
    expect(() => readTemplate(part.repeat(1e6 / part.length), {}, [])).toThrow('a {{ has no }}')
})

test('a value that is known is inserted as itself, whatever it is', () => {
  const template = 'whole: {{ .a | toJson }}\nlines:\n  {{- .a | toYaml | nindent 2 }}\n'
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false, stringUnit: 'binary-ascii' }), (a) => {
      fc.pre(a !== null)
      const plain = JSON.parse(JSON.stringify(a)) as unknown
      const expected = JSON.parse(JSON.stringify(plain).replaceAll('${', '$$${')) as unknown
      expect(readTemplate(template, { a: plain }, [])).toEqual({ whole: expected, lines: expected })
    }),
  )
})
