import { expect, test } from 'vitest'
import { startTestApp } from '../../testkit/app.ts'
import { conformance, openScene } from './conformance.ts'

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
