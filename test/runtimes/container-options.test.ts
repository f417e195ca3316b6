import { expect, test } from 'vitest'
import { readContainerOptions } from '../../src/families/pipelines/agents/container/options.ts'
import { URL } from './place.ts'

test('options are read, with their units', () => {
  const given = { engine: 'unix:///run/engine.sock', memory: '512m', cpus: '1.5', pids: '64', user: '1000:1000' }
  expect(readContainerOptions(given, {}, URL)).toMatchObject({
    ...{ socket: '/run/engine.sock', memory: 512 * 1024 ** 2, cpus: 1.5, pids: 64, user: '1000:1000' },
    ...{ url: URL, pull: 'missing', network: 'bridge', writableRoot: false },
  })
})

test.each([
  ['engine', 'tcp://10.0.0.1:2375'],
  ['memory', 'much'],
  ['memory', '0'],
  ['cpus', '-1'],
  ['pids', '1.5'],
  ['user', 'root; rm'],
  ['pull', 'sometimes'],
  ['network', 'a b'],
  ['root', 'yes'],
])('--%s %s is refused, with what to write instead', (option, value) => {
  expect(() => readContainerOptions({ [option]: value }, {}, URL)).toThrow(new RegExp(`--${option} .*must be`))
})
