import { describe, expect, test } from 'vitest'
import { Problems } from '../../../src/core/problems.ts'
import { normaliseProject, type ProjectInput } from '../../../src/families/pipelines/rules/normalise-project.ts'
import { normaliseWorkload, type WorkloadInput } from '../../../src/families/pipelines/rules/normalise-workload.ts'

const read = (input: WorkloadInput, defaultRuntime = 'process') => {
  const problems = new Problems()
  const spec = normaliseWorkload(input, 'input.spec', problems, { runtime: defaultRuntime })
  return { spec, paths: problems.found.map(({ path }) => path) }
}
const RUN: WorkloadInput = { command: ['true'] }

describe('a workload', () => {
  test('has every default filled in', () => {
    expect(read(RUN)).toEqual({
      paths: [],
      spec: {
        runtime: 'process',
        image: null,
        command: ['true'],
        args: [],
        env: {},
        files: [],
        timeoutMs: null,
        workspace: false,
      },
    })
    expect(read({ image: 'node:24' }, 'kubernetes').spec).toMatchObject({ runtime: 'kubernetes', image: 'node:24' })
  })

  test.each<[string, WorkloadInput, string[]]>([
    ['a process without a command', {}, ['command']],
    ['a process of an empty command', { command: [''] }, ['command']],
    ['a process with an image', { ...RUN, image: 'x' }, ['image']],
    ['neither image nor command', { runtime: 'kubernetes' }, ['image']],
    ['no runtime', { ...RUN, runtime: '../x' }, ['runtime']],
    ['NUL in arguments', { command: ['a', 'b\0'], args: ['\0'] }, ['command.1', 'args.0']],
    ['half a character', { command: ['a\ud800'] }, ['command.0']],
    ['too long a line', { ...RUN, args: Array(5).fill('x'.repeat(60_000)) }, ['args']],
    ['too many arguments', { ...RUN, args: Array(1_024).fill('') }, ['args']],
    ['no time', { ...RUN, timeoutMs: 0 }, ['timeoutMs']],
    ['too much time', { ...RUN, timeoutMs: 2 ** 31 }, ['timeoutMs']],
  ])('%s is refused', (_, input, paths) => {
    expect(read(input).paths).toEqual(paths.map((path) => `input.spec.${path}`))
  })

  test('environment variables have plain names, each once, none of ours', () => {
    const env = ['OK', '1A', 'A-B', 'PHASELINE_TOKEN', 'OK', '', `A${'b'.repeat(128)}`].map((name) => ({
      name,
      value: '',
    }))
    expect(read({ ...RUN, env }).paths).toEqual([1, 2, 3, 4, 5, 6].map((i) => `input.spec.env.${i}.name`))
    const values = ['a\0b', 'fine\n'].map((value, i) => ({ name: `V${i}`, value }))
    expect(read({ ...RUN, env: values }).paths).toEqual(['input.spec.env.0.value'])
    const many = Array.from({ length: 256 }, (_, i) => ({ name: `V${i}`, value: 'x'.repeat(1_100) }))
    expect(read({ ...RUN, env: many }).paths).toEqual(['input.spec.env'])
    expect(Object.keys(read({ ...RUN, env: [{ name: '__proto__', value: 'x' }] }).spec.env)).toEqual(['__proto__'])
  })

  test.each([
    '/etc/passwd',
    '../x',
    'a/../../x',
    'a/./b',
    'a//b',
    'a/',
    '',
    '.',
    'a\\..\\b',
    'a\0',
    'a\nb',
    'x'.repeat(256),
  ])('the file %j is refused', (path) =>
    expect(read({ ...RUN, files: [{ path, content: '' }] }).paths).toContain('input.spec.files.0.path'),
  )

  test('files are distinguished from each other and from folders', () => {
    const files = (...paths: string[]) => read({ ...RUN, files: paths.map((path) => ({ path, content: 'x' })) }).paths
    expect(files('a/b.txt', 'a/c..d', '.env', 'ä/ß')).toEqual([])
    expect(files('a', 'b', 'a')).toEqual(['input.spec.files.2.path'])
    expect(files('a', 'a/b')).toEqual(['input.spec.files.1.path'])
    expect(files('a/b/c', 'a/b')).toEqual(['input.spec.files.1.path'])
    const big = { path: 'big', content: 'x'.repeat(512 * 1024 + 1) }
    expect(read({ ...RUN, files: [big] }).paths).toEqual(['input.spec.files'])
  })
})

describe('a project', () => {
  const readProject = (input: ProjectInput) => {
    const problems = new Problems()
    const change = normaliseProject(input, 'input', problems)
    return { change, paths: problems.found.map(({ path }) => path) }
  }

  test('only fields of the input are changed, and null clears them', () => {
    expect(readProject({}).change).toEqual({})
    expect(readProject({ limits: { maxJobs: 3 } }).change).toEqual({ limits: { maxJobs: 3 } })
    expect(readProject({ limits: { maxWorkers: null, strategy: null } }).change).toEqual({
      limits: { maxWorkers: null, strategy: 'QUEUE' },
    })
    expect(readProject({ workerTemplate: null, subscriptions: null, limits: null }).change).toEqual({
      workerTemplate: null,
      subscriptions: [],
      limits: { maxWorkers: null, maxJobs: null, strategy: 'QUEUE' },
    })
  })

  test('problems are reported by their path', () => {
    const subscription = { source: 'git', types: ['*'] }
    const { paths } = readProject({
      workerTemplate: {
        command: ['a'],
        env: [
          { name: 'x', value: '' },
          { name: '=', value: '' },
        ],
      },
      subscriptions: [
        subscription,
        { source: ' git', types: ['push', 'a\nb'] },
        { source: '', types: [] },
        { ...subscription, qualifiers: [{ key: 'a b', value: '' }] },
        {
          ...subscription,
          labels: [
            { key: 'a', value: '1' },
            { key: 'a', value: '2' },
          ],
        },
      ],
      limits: { maxWorkers: -1, maxJobs: 100_001 },
    })
    expect(paths).toEqual([
      'input.workerTemplate.env.1.name',
      'input.subscriptions.1.source',
      'input.subscriptions.1.types.1',
      'input.subscriptions.2.source',
      'input.subscriptions.2.types',
      'input.subscriptions.3.qualifiers.0.key',
      'input.subscriptions.4.labels.1.key',
      'input.limits.maxWorkers',
      'input.limits.maxJobs',
    ])
  })
})
