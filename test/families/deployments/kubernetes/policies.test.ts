import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hasCluster } from '../../../testkit/cluster.ts'
import { expr, refusal } from '../../../testkit/deployments.ts'
import { PATIENCE_MS, until } from '../../../testkit/wait.ts'
import { createWorld, USER } from '../../../testkit/world.ts'
import { configMap, manifestPlace } from './manifest-place.ts'

/** Settings of single objects, and readiness rules, on the real API server. */

const POLICY = 'phaseline.io/policy'
const annotated = (name: string, policy: string, data: Readonly<Record<string, string>> = { a: '1' }) => ({
  ...configMap(name, data),
  metadata: { name, annotations: { [POLICY]: policy } },
})
const secret = (name: string, value: string) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { value } },
})

test('rules and policies that cannot be are refused with their paths when they are written', async () => {
  await using world = await createWorld()
  const plan = (type: string, config: object) =>
    world.commands.planInstallation(USER, {
      create: {
        ...{ project: 'default', name: 'shop' },
        spec: { imports: [{ name: 'phase' }], deployItems: [{ name: 'it', type, config }] },
      },
    })
  const readiness = [
    { kind: 'Boat', ready: 'object.status.phase ==' },
    { kind: 'Boat', ready: 'imports.phase == "Ready"', failed: 'nonsense(1)' },
    { kind: 'Boat', ready: `object.status.phase == "${expr('imports.phase')}"` },
  ]
  const at = (path: string) => `input.spec.deployItems.0.config.${path}`
  for (const [type, config] of [
    ['kubernetes-manifest', { manifests: [configMap('a')] }],
    ['helm', { chart: 'web' }],
  ] as const) {
    const { fields } = await refusal(plan(type, { ...config, readiness }))
    expect(fields.map(({ path }) => path)).toEqual(
      ['readiness.0.ready', 'readiness.1.ready', 'readiness.1.failed'].map(at),
    )
    expect(fields[1]?.message).toBe('imports is not known: an expression may speak of object')
    expect(await plan(type, { ...config, readiness: readiness.slice(2) })).toMatchObject({ ok: true })
    const wrong = { policies: [{ kind: 'Pod', policy: 'leave' }], readiness: [{ ready: 'true' }] }
    expect((await refusal(plan(type, { ...config, ...wrong }))).fields.map(({ path }) => path)).toEqual(
      ['policies.0.policy', 'readiness.0'].map(at),
    )
  }
})

describe.runIf(hasCluster())('policies of objects', { timeout: PATIENCE_MS, concurrent: true }, () => {
  test('keep: an object outlives its manifest, the entry of the config, and its item', async () => {
    await using at = await manifestPlace()
    const config = { manifests: [configMap('a'), annotated('b', 'keep')], policies: [{ name: 'a', policy: 'keep' }] }
    expect((await at.deploy(config)).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect((await at.deploy(config)).lines.every((line) => line.endsWith('is unchanged'))).toBe(true)
    const pruned = await at.deploy({ manifests: [configMap('c')] })
    expect(pruned.lines).toContain(`ConfigMap ${at.namespace}/a stays, as its policy says`)
    await at.deploy({ manifests: [annotated('d', 'keep')] })
    await at.remove()
    expect(await at.leftovers()).toEqual(['configmaps a', 'configmaps b', 'configmaps d'])
    expect((await at.find('configmaps', 'd'))?.metadata.annotations).toEqual({ [POLICY]: 'keep' })
  })

  test('ignore: an object is neither applied nor waited for, and left alone once it was the item’s', async () => {
    await using at = await manifestPlace()
    const manifests = [
      configMap('a'),
      configMap('b'),
      { apiVersion: 'x.example/v1', kind: 'X', metadata: { name: 'x' } },
    ]
    const ignored = [{ kind: 'X', policy: 'ignore' }]
    await at.deploy({ manifests, policies: ignored })
    const changed = [configMap('a', { a: '2' }), ...manifests.slice(1)]
    const { lines } = await at.deploy({ manifests: changed, policies: [...ignored, { name: 'a', policy: 'ignore' }] })
    expect(lines).toEqual([
      `ConfigMap ${at.namespace}/b is unchanged`,
      `ConfigMap ${at.namespace}/a stays, as its policy says`,
    ])
    expect(await at.find('configmaps', 'a')).toMatchObject({ data: { a: '1' } })
    await at.remove({ manifests, policies: [{ name: 'b', policy: 'ignore' }] })
    expect(await at.leftovers()).toEqual(['configmaps a', 'configmaps b'])
  })

  test('fallback: an object of others is used as it is; without one it is the item’s', async () => {
    await using at = await manifestPlace()
    await at.api.post(at.path('configmaps'), configMap('theirs', { a: 'theirs' }))
    await at.deploy({ manifests: [configMap('another')] }, { objectId: randomUUID() })
    const names = ['theirs', 'another', 'own']
    const config = {
      manifests: names.map((name) => configMap(name, { a: 'ours' })),
      policies: [{ kind: 'ConfigMap', policy: 'fallback' }],
      exports: { a: { kind: 'ConfigMap', name: 'theirs', path: '.data.a' } },
    }
    expect(await at.deploy(config)).toMatchObject({
      outcome: { phase: 'SUCCEEDED', exports: { a: 'theirs' } },
      lines: expect.arrayContaining([
        `ConfigMap ${at.namespace}/another is there, and stays as it is: its policy is fallback`,
        `ConfigMap ${at.namespace}/own is created`,
      ]),
    })
    await at.remove(config)
    expect(await at.leftovers()).toEqual(
      expect.arrayContaining([
        'configmaps another',
        'configmaps theirs',
        expect.stringMatching(/^configmaps phaseline-/),
      ]),
    )
    expect(await at.find('configmaps', 'own')).toBeNull()
    const adopted = await at.deploy({ ...config, adopt: true, manifests: [configMap('theirs', { a: 'ours' })] })
    expect(adopted.outcome).toMatchObject({ exports: { a: 'ours' } })
  })

  test('immutable: an object is created and deleted, and never changed', async () => {
    await using at = await manifestPlace()
    const config = (a: string) => ({ manifests: [annotated('a', 'immutable', { a })] })
    await at.deploy(config('1'))
    expect((await at.deploy(config('2'))).lines).toEqual([
      `ConfigMap ${at.namespace}/a is there, and stays as it is: its policy is immutable`,
    ])
    expect(await at.find('configmaps', 'a')).toMatchObject({ data: { a: '1' } })
    await at.api.delete(at.path('configmaps', 'a'))
    await at.deploy(config('3'))
    expect(await at.find('configmaps', 'a')).toMatchObject({ data: { a: '3' } })
    await at.remove()
    await at.api.post(at.path('configmaps'), configMap('a', { a: 'theirs' }))
    expect((await at.deploy({ ...config('4'), adopt: true })).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await at.find('configmaps', 'a')).toMatchObject({ data: { a: 'theirs' } })
    await at.remove()
    expect(await at.leftovers()).toEqual([])
    expect((await at.deploy({ manifests: [annotated('a', 'never')] })).error).toMatch(
      /^KUBERNETES_CONFIG: ConfigMap a: phaseline\.io\/policy: must be one of manage, keep/,
    )
  })

  test('conflicts and immutable fields are decided for single objects', async () => {
    await using at = await manifestPlace()
    for (const name of ['a', 'b'])
      await at.api.apply(at.path('configmaps', name), configMap(name, { a: 'theirs' }), { fieldManager: 'other' })
    const manifests = ['a', 'b'].map((name) => configMap(name, { a: 'ours' }))
    const { error } = await at.deploy({
      ...{ manifests, adopt: true, conflicts: 'refuse' },
      policies: [{ name: 'a', conflicts: 'take' }],
    })
    expect(error).toMatch(/^KUBERNETES_CONFLICT: ConfigMap .*\/b: /)
    expect(await at.find('configmaps', 'a')).toMatchObject({ data: { a: 'ours' } })
  })
})

describe.runIf(hasCluster())('readiness rules', { timeout: PATIENCE_MS, concurrent: true }, () => {
  const rule = (more: object = {}) => ({
    ...{ kind: 'ConfigMap', name: 'a', ready: 'object.data.phase == "Ready"' },
    ...{ failed: 'object.data.phase == "Broken"', message: 'object.data.why' },
    ...more,
  })
  const phase = (phase: string, why: string) => ({ data: { phase, why } })

  test('an object is waited for as its rule says, and its reason names the rule and the value', async () => {
    await using at = await manifestPlace()
    const config = {
      manifests: [configMap('a'), { ...configMap('b'), metadata: { name: 'b', labels: { tier: 'back' } } }],
      readiness: [rule(), { kind: 'ConfigMap', labels: { tier: 'back' }, ready: 'object.data.phase == "Ready"' }],
    }
    const { worked, steps, stop } = at.begin(config)
    const until1 = (text: string) => until(() => steps.some((step) => step.includes(text)), { what: text })
    await until1('a: its rule object.data.phase == "Ready" cannot be evaluated: there is no field phase')
    await at.api.patch(at.path('configmaps', 'a'), phase('Pending', 'no water yet'))
    await until1('a: its rule object.data.phase == "Ready" is not met: no water yet')
    await at.api.patch(at.path('configmaps', 'a'), phase('Ready', ''))
    await at.api.patch(at.path('configmaps', 'b'), phase('Sailing', ''))
    await until1('b: its rule object.data.phase == "Ready" is not met: object.data.phase is "Sailing"')
    await at.api.patch(at.path('configmaps', 'b'), phase('Ready', ''))
    expect((await worked).outcome).toMatchObject({ phase: 'SUCCEEDED' })
    stop()
    await at.api.patch(at.path('configmaps', 'a'), phase('Broken', 'a leak'))
    expect((await at.deploy(config)).error).toMatch(
      /^KUBERNETES_FAILED: ConfigMap .*\/a: its rule object\.data\.phase == "Broken" says so: a leak$/,
    )
  })

  test('a rule comes instead of those of the kind, and shows no secret', async () => {
    await using at = await manifestPlace()
    const job = {
      ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'later' } },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'x', image: 'no-such.example/x' }] } } },
    }
    const marker = 'marker-of-a-secret'
    const given = { manifests: [secret('s', marker), job] }
    const jobs = { kind: 'Job', ready: 'object.spec.parallelism == 1' }
    const met = await at.deploy({ ...given, readiness: [jobs, { kind: 'Secret', ready: 'has(object.data.value)' }] })
    expect([met.error, met.outcome]).toMatchObject(['undefined: undefined', { phase: 'SUCCEEDED' }])
    const { steps, worked, stop } = at.begin({
      ...given,
      readiness: [jobs, { kind: 'Secret', ready: 'object.data.value == "x"', message: 'object.data.value' }],
    })
    await until(() => steps.some((step) => step.includes('is not met: ***')), { what: 'the value hidden' })
    stop()
    await worked
    expect(steps.join()).not.toContain(Buffer.from(marker).toString('base64'))
  })

  test('a hostile rule is stopped, and holds up no other item; one for an object that is not there is refused', async () => {
    await using at = await manifestPlace()
    const keys = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`key-${i}`, '']))
    const { steps, worked, stop } = at.begin({
      manifests: [configMap('a', keys)],
      readiness: [{ kind: 'ConfigMap', ready: 'object.data.all(a, object.data.all(b, a != "" || b != ""))' }],
    })
    const others = await at.deploy(
      { manifests: [configMap('b')], readiness: [{ kind: 'ConfigMap', ready: 'object.data.a == "1"' }] },
      { objectId: randomUUID() },
    )
    expect(others.outcome).toMatchObject({ phase: 'SUCCEEDED' })
    await until(() => steps.some((step) => /its rule .* cannot be evaluated: it took more than/.test(step)), {
      what: 'a rule that is stopped',
    })
    stop()
    expect((await worked).outcome).toEqual({ phase: 'ABORTED' })
    const gone = { manifests: [configMap('a')], readiness: [rule({ name: 'no' }), rule({ ready: '1 +' })] }
    expect((await at.deploy(gone)).error).toMatch(/^KUBERNETES_CONFIG: config\.readiness\.1\.ready: /)
    expect((await at.deploy({ ...gone, readiness: [rule({ name: 'no' })] })).error).toBe(
      'KUBERNETES_CONFIG: config.readiness.0: there is no ConfigMap no among the manifests',
    )
  })
})
