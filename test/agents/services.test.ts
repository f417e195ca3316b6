import { expect, test } from 'vitest'
import { commandLine } from '../cli/command.ts'
import { freePort } from '../testkit/redis.ts'
import { addEvent, sh, startRuntime, untilOver, world } from './event-jobs.ts'

/** Services of jobs from the API to a real runtime, and what people see of them. */

const port = await freePort()
const service = (script: string, timeoutMs = 60_000) => ({
  ...{ name: 'db', command: ['sh', '-c', script], ports: [port] },
  readiness: { timeoutMs },
})

test('a job finds its services; one that does not get ready fails its start, and says why', async () => {
  const { server, state, secret } = await world()
  await using _runtime = startRuntime(server.url, secret, state)
  const id = await addEvent(server, [
    [
      'finds',
      sh('busybox nc -w 5 $DB_HOST $DB_PORT < /dev/null', {
        services: [service(`exec busybox nc -ll -p ${port} -e echo pong`)],
      }),
    ],
    ['ends', sh('echo never', { services: [service('echo last words; exit 4')] })],
    ['late', sh('echo never', { services: [service('sleep 1000', 2_000)] })],
  ])
  const jobs = await untilOver(server, id)
  expect(jobs.get('finds')).toMatchObject({ phase: 'SUCCEEDED' })
  expect(jobs.get('ends')).toMatchObject({
    phase: 'SCHEDULING_FAILED',
    error: { code: 'SERVICE_FAILED', message: 'Its service db has ended with exit code 4.' },
  })
  expect(jobs.get('late')).toMatchObject({
    phase: 'SCHEDULING_FAILED',
    error: { code: 'SERVICE_FAILED', message: expect.stringMatching(/db was not ready within 2 s/) },
  })
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const said = async (job: string) => (await phaseline(`event logs shop/event-1 --job ${job}`)).out
  expect(await said('finds')).toContain('pong')
  expect(await said('ends')).toMatch(/db: last words/)
  expect(await said('ends')).not.toContain('never')
})
