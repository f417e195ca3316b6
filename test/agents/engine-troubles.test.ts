import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Endings } from '../../src/agents/container/endings.ts'
import { Engine } from '../../src/agents/container/engine.ts'
import { Images } from '../../src/agents/container/images.ts'
import { until } from '../testkit/wait.ts'

/** An engine that has no image, and whose stream of events breaks off. */
async function startPoorEngine() {
  await using stack = new AsyncDisposableStack()
  const socket = join(stack.use(await mkdtempDisposable(join(tmpdir(), 'phaseline-engine-'))).path, 'engine.sock')
  let asked = 0
  const http = createServer((request, response) => {
    if (!request.url?.includes('/events')) {
      response.writeHead(404).end(`{"message":"no such image"}`)
      return
    }
    asked += 1
    response.writeHead(200).flushHeaders()
    setTimeout(() => response.destroy(), 20)
  })
  stack.defer(() => new Promise<void>((resolve) => http.close(() => resolve())))
  await once(http.listen(socket), 'listening')
  const kept = stack.move()
  return { engine: new Engine(socket, 'label'), asked: () => asked, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

test('a stream of events that breaks off is reported in words, once, and opened again', async () => {
  await using poor = await startPoorEngine()
  const problems: string[] = []
  {
    await using _ = new Endings(poor.engine, 'label', ({ message }) => problems.push(message))
    await until(() => poor.asked() > 1, { what: 'they are requested again' })
  }
  expect(problems[0]).toMatch(/^The engine has ended its stream of events, which is requested again: \S/)
})

test('an image that is not there, and may not be fetched, is named', async () => {
  await using poor = await startPoorEngine()
  const images = new Images(poor.engine.docker, { pull: 'never', registries: null })
  await expect(images.provide('shop:7', new AbortController().signal)).rejects.toThrow(
    'The engine does not have its image shop:7, and may fetch none (pull: never).',
  )
})
