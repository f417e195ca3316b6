import { expect, test } from 'vitest'
import { placeName } from '../../src/families/pipelines/agents/runtime/place-name.ts'

test.each([
  ['web-1', 'process-web-1-0a1b'],
  ['web-1.example.com', 'process-web-1-0a1b'],
  ["Ada's MacBook.local", 'process-ada-s-macbook-0a1b'],
  ['-_-', 'process-0a1b'],
  ['', 'process-0a1b'],
  ['x'.repeat(100), `process-${'x'.repeat(30)}-0a1b`],
])('the place of the host %j is %s', (host, name) => {
  expect(placeName('process', host, '0a1b')).toBe(name)
})
