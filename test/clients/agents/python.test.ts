import { expect, test } from 'vitest'
import { startTestApp } from '../../testkit/app.ts'
import { startAgentProcess } from './agent-process.ts'
import { conformance, openScene } from './conformance.ts'
import { startFailingServer } from './failing-server.ts'

conformance('Python')

// It ends the process of other languages.
test('work that calls sys.exit fails alone', async () => {
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  const scene = await openScene('Python', server)
  await using _agent = scene.start()
  await scene.offers({ exits: [['exit', 3]], good: [['end', { phase: 'SUCCEEDED' }]] })
  await scene.reaches('exits', 'FAILED')
  await scene.reaches('good', 'SUCCEEDED')
  expect((await scene.item('exits')).error).toMatchObject({
    code: 'AGENT_ERROR',
    message: expect.stringContaining('exit(3)'),
  })
})

test('an answer that is larger than its bound is not read', async () => {
  await using failing = await startFailingServer({ status: 200, body: 'x'.repeat(2_000) })
  await using agent = startAgentProcess('Python', { url: failing.url, token: 't', types: ['any'], maxBytes: 1_000 })
  const { message } = await agent.says({ event: 'problem', what: 'claim' })
  expect(message).toBe('The answer is larger than 1000 bytes.')
})
