import { describe, expect, test } from 'vitest'
import { Problems } from '../../src/core/problems.ts'
import { normaliseProject, type ProjectInput } from '../../src/projects/rules/normalise-project.ts'
import { normaliseWorkload, type WorkloadInput } from '../../src/projects/rules/normalise-workload.ts'

const read = (input: WorkloadInput, defaultRuntime = 'process') => {
  const problems = new Problems()
  const spec = normaliseWorkload(input, 'input.spec', problems, { runtime: defaultRuntime })
  return { spec, paths: problems.found.map(({ path }) => path) }
}
const RUN: WorkloadInput = { command: ['true'] }
const DB = { name: 'db', command: ['db'] }

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
    ['a clone of credentials', { ...RUN, clone: { url: 'https://me:secret@git.example.com/a' } }, ['clone.url']],
    ['a clone by a program', { ...RUN, clone: { url: 'ext::sh -c id' } }, ['clone.url']],
    ['a clone by ssh', { ...RUN, clone: { url: 'ssh://git.example.com/a' } }, ['clone.url']],
    ['a ref that is an option', { ...RUN, clone: { url: 'https://g.example/a', ref: '-x' } }, ['clone.ref']],
    ['a ref that is a refspec', { ...RUN, clone: { url: 'https://g.example/a', ref: 'a:b' } }, ['clone.ref']],
    ['a ref without an end', { ...RUN, clone: { url: 'https://g.example/a', ref: '${event' } }, ['clone.ref']],
    ['a clone above', { ...RUN, clone: { url: 'https://g.example/a', path: '../a' } }, ['clone.path']],
    ['a negative depth', { ...RUN, clone: { url: 'https://g.example/a', depth: -1 } }, ['clone.depth']],
    ['a secret of no name', { ...RUN, clone: { url: 'https://g.example/a', secret: 'a-b' } }, ['clone.secret']],
    ['a file of two contents', { ...RUN, files: [{ path: 'a', content: '', secret: 'A' }] }, ['files.0']],
    ['a file without a content', { ...RUN, files: [{ path: 'a' }] }, ['files.0']],
    ['too much time', { ...RUN, timeoutMs: 2 ** 31 }, ['timeoutMs']],
    ['a service with an image', { ...RUN, services: [{ ...DB, image: 'x' }] }, ['services.0.image']],
    ['a service without a command', { ...RUN, services: [{ name: 'db' }] }, ['services.0.command']],
    ['two services of one name', { ...RUN, services: [DB, DB] }, ['services.1.name']],
    ['a service of no host', { ...RUN, services: [{ ...DB, name: 'My_DB' }] }, ['services.0.name']],
    ['a service at localhost', { ...RUN, services: [{ ...DB, name: 'localhost' }] }, ['services.0.name']],
    ['a service of our name', { ...RUN, services: [{ ...DB, name: 'phaseline-x' }] }, ['services.0.name']],
    ['a service at no port', { ...RUN, services: [{ ...DB, ports: [0] }] }, ['services.0.ports.0']],
    ['a service of a user', { ...RUN, services: [{ ...DB, user: 1 }] }, ['services.0.user']],
    ['a service of a secret', { ...RUN, services: [{ ...DB, secrets: ['a-b'] }] }, ['services.0.secrets.0']],
    ['two checks', { ...RUN, services: [{ ...DB, readiness: { port: 1, command: ['a'] } }] }, ['services.0.readiness']],
    [
      'a service that may be late',
      { ...RUN, services: [{ ...DB, readiness: { timeoutMs: 3_600_001 } }] },
      ['services.0.readiness.timeoutMs'],
    ],
  ])('%s is refused', (_, input, paths) => {
    expect(read(input).paths).toEqual(paths.map((path) => `input.spec.${path}`))
  })

  test('a service has its defaults: it is ready at its first port, unless a command says so', () => {
    const { spec, paths } = read(
      {
        image: 'node:24',
        services: [
          { name: 'db', image: 'postgres:17', ports: [5432, 5433] },
          {
            name: 'my-cache',
            image: 'redis:7',
            ports: [6379],
            user: 999,
            readiness: { command: ['redis-cli', 'ping'] },
          },
        ],
      },
      'container',
    )
    expect(paths).toEqual([])
    expect(spec.services).toEqual([
      {
        ...{ name: 'db', image: 'postgres:17', command: [], args: [], env: {}, secrets: [], ports: [5432, 5433] },
        ...{ user: null, readiness: { port: 5432, command: [], timeoutMs: 60_000 } },
      },
      {
        ...{ name: 'my-cache', image: 'redis:7', command: [], args: [], env: {}, secrets: [], ports: [6379] },
        ...{ user: 999, readiness: { port: null, command: ['redis-cli', 'ping'], timeoutMs: 60_000 } },
      },
    ])
  })

  test('a clone has its defaults, and a file its secret', () => {
    const clone = { url: 'https://git.example.com/app.git', ref: '${event.payload.after}' }
    expect(read({ ...RUN, clone, files: [{ path: '.npmrc', secret: 'NPMRC' }] })).toMatchObject({
      paths: [],
      spec: {
        clone: { ...clone, depth: 1, path: null, secret: null },
        files: [{ path: '.npmrc', content: '', secret: 'NPMRC' }],
      },
    })
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
