import { describe, expect, it } from 'vitest'
import { describeProblem, parseManifests } from '../../src/manifest/index.ts'

const problemsOf = (text: string): string[] => {
  const parsed = parseManifests(text)
  return parsed.ok ? [] : parsed.problems.map((problem) => describeProblem('f.yaml', problem))
}

describe('parseManifests', () => {
  it('reads several YAML documents and skips empty ones', () => {
    const parsed = parseManifests(`---
name: network
labels: { tier: base }
spec:
  deployItems:
    - name: vpc
      type: mock
      config: { delayMs: 5, exports: { id: "\${imports.region}" } }
      timeouts: { pickup: { ms: 1000 }, progressing: { never: true } }
---
---
name: shop
project: web
spec:
  imports: [{ name: vpc }]
  installations:
    - name: backend
      spec: { installations: [{ name: db, spec: {} }] }
`)
    expect(parsed.ok && parsed.manifests.map(({ name, project }) => [name, project])).toEqual([
      ['network', undefined],
      ['shop', 'web'],
    ])
    expect(parsed.ok && parsed.manifests[0]?.spec.deployItems?.[0]?.timeouts).toEqual({
      pickup: { ms: 1000 },
      progressing: { never: true },
    })
  })

  it('reads durations wherever milliseconds are', () => {
    const parsed = parseManifests(`
name: shop
spec:
  deployItems:
    - name: api
      type: mock
      timeouts: { pickup: 10m, progressing: { ms: 1000 } }
      retry: { attempts: 2, backoff: { initialMs: 5s, maxMs: 60000 }, attemptTimeoutMs: 1h30m }
  automaticReconcile: { afterSuccess: { intervalMs: 24h } }
`)
    const { deployItems, automaticReconcile } = (parsed.ok && parsed.manifests[0]?.spec) || {}
    expect(deployItems?.[0]).toMatchObject({
      timeouts: { pickup: { ms: 600_000 }, progressing: { ms: 1_000 } },
      retry: { backoff: { initialMs: 5_000, maxMs: 60_000 }, attemptTimeoutMs: 5_400_000 },
    })
    expect(automaticReconcile).toEqual({ afterSuccess: { intervalMs: 86_400_000 } })
    expect(problemsOf('name: a\nspec: { deployItems: [{ name: a, type: mock, timeouts: { pickup: soon } }] }')).toEqual(
      [expect.stringContaining('spec.deployItems.0.timeouts.pickup: must be a duration such as 10m, ')],
    )
  })

  it('reads JSON, tabs and all', () => {
    const text = JSON.stringify(
      { name: 'a', spec: { exports: [{ name: 'x', value: [1, null, { y: 'z' }] }] } },
      null,
      '\t',
    )
    const parsed = parseManifests(text)
    expect(parsed.ok && parsed.manifests).toEqual([JSON.parse(text)])
  })

  it('reports every problem of every document with path, line and column', () => {
    expect(
      problemsOf(`name: shop
spec:
  deployItems:
    - name: api
      type: 7
    - name: web
      type: mock
      depends: [api]
---
nam: other
spec: {}
`),
    ).toEqual([
      'f.yaml:5:13: document 1: spec.deployItems.0.type: must be a string, not a number',
      'f.yaml:8:7: document 1: spec.deployItems.1: Unrecognized key: "depends". Did you mean dependsOn?',
      'f.yaml:10:1: document 2: name: is missing',
      'f.yaml:10:1: document 2: Unrecognized key: "nam". Did you mean name?',
    ])
  })

  it('says where the syntax is wrong', () => {
    expect(problemsOf('name: a\nspec: {deployItems: [}\n')[0]).toMatch(/^f\.yaml:2:\d+: /)
    expect(problemsOf('name: a\nname: b\nspec: {}\n')[0]).toMatch(/^f\.yaml:2:1: Map keys must be unique/)
    expect(problemsOf('name: *nowhere\nspec: {}\n')).toHaveLength(1)
    expect(problemsOf('# nothing\n')).toEqual(['f.yaml: The file holds no document.'])
  })

  it('takes time in proportion to what is in it, however many keys and aliases', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => i)
    const config = many.map((i) => `      k${i}: 1`).join('\n')
    const items = 'name: a\nspec:\n  deployItems:\n  - name: a\n    type: mock\n    config:\n'
    const same = `name: a\nspec: &a {x: &a 1, y: [${many.map(() => '*a').join()}]}`
    const before = process.cpuUsage()
    expect(parseManifests(`${items}${config}`).ok).toBe(true)
    expect(problemsOf(`${items}${config}\n      k1: 2\n      k0: 3`)).toEqual([
      'f.yaml:20007:7: Map keys must be unique',
      'f.yaml:20008:7: Map keys must be unique',
    ])
    expect(problemsOf(same)).toHaveLength(1)
    const helm = `name: &a a\nspec: {deployItems: [{name: x, type: helm, config: [${many.map(() => '*a').join()}]}]}`
    expect(problemsOf(helm)).toEqual([])
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(6_000)
  })

  it('refuses an alias of something that contains it, and says where', () => {
    const text = 'name: x\nspec: &s\n  installations:\n    - { name: a, spec: *s }\n'
    const read = parseManifests(text)
    const problem = { path: '', message: '*s is within what it stands for.', line: 4, column: 24 }
    expect(read).toEqual({ ok: false, problems: [problem] })
  })

  it('refuses what is nested too deep', () => {
    expect(problemsOf(`name: a\nspec: ${'['.repeat(20_000)}`)).toContainEqual(
      expect.stringContaining('nested too deep'),
    )
  })

  it('takes any number of aliases that stand for little, and shows each that stands for nothing', () => {
    const items = Array.from({ length: 2_000 }, (_, i) => `    - { name: i${i}, type: mock, config: *c }`).join('\n')
    const used = (config: string) =>
      `name: a\nspec:\n  deployItems:\n    - { name: a, type: mock, config: ${config} }\n`
    const read = parseManifests(`${used('&c { a: &b 1, b: *b }')}${items}`)
    expect(read.ok && read.manifests[0]?.spec?.deployItems?.at(-1)).toMatchObject({
      name: 'i1999',
      config: { a: 1, b: 1 },
    })
    expect(problemsOf(used('{ a: *b, b: &b 1, c: *d }'))).toEqual([
      'f.yaml:4:43: *b stands for nothing: there is no &b before it',
      'f.yaml:4:59: *d stands for nothing: there is no &d before it',
    ])
  })

  it('refuses a bomb of aliases instead of unfolding it', () => {
    const levels = Array.from({ length: 12 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(', ')}]`)
    const text = `l0: &l0 [x]\n${levels.join('\n')}\nname: bomb\nspec: {}\n`
    expect(problemsOf(text)).toEqual(['f.yaml:8:10: Aliases stand for more than 3145728 characters'])
    const config = `    config: &a {${Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join()}}`
    const items = Array.from({ length: 90 }, (_, i) => `  - name: b${i}\n    type: mock\n    config: {<<: *a}`)
    const merged = ['name: a', 'spec:', '  deployItems:', '  - name: a', '    type: mock', config, ...items].join('\n')
    expect(problemsOf(merged)).toEqual(['f.yaml:63:18: Aliases stand for more than 3145728 characters'])
  })

  it('names each value that JSON cannot hold, in their order', () => {
    const config = '{a: 9007199254740993, b: [1, {c: .inf}], d: ok, e: 9007199254740995}'
    const found = problemsOf(`name: a\nspec: {deployItems: [{name: x, type: mock, config: ${config}}]}\n`)
    expect(found.map((line) => /^f\.yaml:2:\d+: (\S+): is/.exec(line)?.[1])).toEqual(
      ['a', 'b.1.c', 'e'].map((path) => `spec.deployItems.0.config.${path}`),
    )
  })

  it.each([
    ['timeouts: {pickup: {ms: 0}}', /timeouts\.pickup/],
    ['timeouts: {pickup: {never: false}}', /timeouts\.pickup/],
    [
      'config: {a: [.nan]}',
      /^f\.yaml:2:57: spec\.deployItems\.0\.config\.a\.0: is no number that JSON has: write it as a text/,
    ],
    ['config: {a: -.inf}', /config\.a: is no number that JSON has/],
    ['config: {a: 1e400}', /config\.a: is no number that JSON has/],
    ['config: {a: 6e81937}', /config\.a: is no number that JSON has: write it as a text, in quotes/],
    ['config: {a: 9007199254740993}', /config\.a: is a whole number beyond ±9007199254740991/],
    ['config: {a: -1234567890123456789012345}', /config\.a: is a whole number beyond/],
    ['config: {a: "\\0"}', /config\.a: holds the character NUL/],
    ['config: {"a\\ud800": 1}', /config: has a key that holds half of a surrogate pair/],
    ['config: {a: !!set {b}}', /config\.a: is not JSON but of the type Set/],
    [
      'config: {mode: 0400}',
      /^f\.yaml:2:59: 0400 is the number 400 in YAML 1\.2 and the number 256 in YAML 1\.1: write/,
    ],
    ['config: {mode: 0o17}', /0o17 is the number 15 in YAML 1\.2 and text in YAML 1\.1/],
    ['config: {size: 1_000}', /1_000 is text in YAML 1\.2 and the number 1000 in YAML 1\.1/],
    ['config: {1: a, "1": b}', /Map keys must be unique/],
    ['config: {1.10: a}', /^f\.yaml:2:53: The key 1\.10 would be "1\.1": write it in quotes/],
    ['config: [{12345678901234567890: a}]', /The key 12345678901234567890 would be "12345678901234567000"/],
    ['config: {a: {1e400: b}}', /The key 1e400 would be "Infinity"/],
    ['config: {0x1F: a}', /The key 0x1F would be "31"/],
    ['config: {True: a}', /The key True would be "true"/],
    ['config: {~: a}', /The key ~ would be ""/],
    ['config: {<<: {a: 1}, <<: {b: 1}}', /Map keys must be unique/],
    ['config: {<<: 1}', /Merge sources must be maps/],
    ['name: ""', /unique|must not be empty/],
  ])('refuses %s', (line, expected) => {
    expect(problemsOf(`name: a\nspec: {deployItems: [{name: x, type: mock, ${line}}]}\n`)[0]).toMatch(expected)
  })

  it('reads the config of Kubernetes as its tools do, or refuses it', () => {
    const ofMock = (config: string) =>
      parseManifests(`name: a\nspec: {deployItems: [{name: x, type: mock, config: ${config}}]}\n`)
    expect(
      problemsOf('name: a\nspec: {deployItems: [{name: x, type: helm, config: {values: {on: [yes, "no"]}}}]}\n'),
    ).toEqual([
      'f.yaml:2:62: on is text in YAML 1.2 and true in YAML 1.1: write it in another way, or in quotes',
      'f.yaml:2:67: yes is text in YAML 1.2 and true in YAML 1.1: write it in another way, or in quotes',
    ])
    expect(ofMock('{on: [yes, "no"], b: 0x1F, c: 2026-01-31, d: 12:30, e: 017.5, f: true}')).toMatchObject({
      ok: true,
      manifests: [
        { spec: { deployItems: [{ config: { on: ['yes', 'no'], b: 31, c: '2026-01-31', d: '12:30', f: true } }] } },
      ],
    })
  })

  it('takes keys that are the text that stands there', () => {
    const text = 'name: a\nspec: {exports: [{name: x, value: {8080: a, -1.5: b, true: c, "1.10": d, ? "e" : f}}]}\n'
    expect(parseManifests(text)).toMatchObject({
      manifests: [{ spec: { exports: [{ value: { '8080': 'a', '-1.5': 'b', true: 'c', '1.10': 'd', e: 'f' } }] } }],
    })
  })

  it('merges as the tools of Kubernetes do', () => {
    const text =
      'name: a\nspec: {deployItems: [{name: x, type: mock, config: [&l {a: 1, b: 1}, {<<: *l, b: 2}, {"<<": 1}]}]}\n'
    expect(parseManifests(text)).toMatchObject({
      manifests: [{ spec: { deployItems: [{ config: [{ a: 1, b: 1 }, { a: 1, b: 2 }, { '<<': 1 }] }] } }],
    })
  })
})
