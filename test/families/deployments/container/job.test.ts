import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { engineSocket, provideImage } from '../../../testkit/container-engine.ts'
import { until } from '../../../testkit/wait.ts'
import { itemPlace, script } from './item-place.ts'

const socket = engineSocket()

describe.runIf(socket !== null)('the container deployer', { concurrent: true }, () => {
  const place = () => itemPlace(socket ?? '')
  beforeAll(() => provideImage(socket ?? ''))

  test('a job reports progress and exports, once in each job of the item; deleted, nothing is left', async () => {
    await using at = await place()
    const config = script(
      `echo STEP copying; echo PROGINFO 2 files; echo PROG 1; echo "for people: $(cat $PHASELINE_SECRETS/PASSWORD)" >&2
       echo "EXPORT env \\"$GREETING\\""`,
      { env: { GREETING: 'hello' }, secrets: { PASSWORD: 'marker of a secret' } },
    )
    const jobId = randomUUID()
    const working = at.begin(config, { jobId })
    const first = await working.worked
    expect(first.outcome).toEqual({ phase: 'SUCCEEDED', exports: { env: 'hello' } })
    expect(working.steps).toContain('copying 1/2')
    expect([...first.lines].sort()).toEqual(['STDERR for people: ***', 'STEP copying'])
    const container = await at.inspect()
    expect(JSON.stringify([container, await at.docker.listContainers({ all: true })])).not.toContain('marker')
    expect(await at.leftovers()).toEqual([`/${at.name}`])
    // Its outcome was lost: another attempt of the same job finds it.
    const again = await at.deploy(config, { jobId, attempt: 2 })
    expect(again.outcome).toEqual(first.outcome)
    expect(again.lines[0]).toMatch(/^SYSTEM A deployer has started it before/)
    expect((await at.inspect())?.Id).toBe(container?.Id)
    // A reconcile, or a changed config, is another job.
    const changed = await at.deploy({ ...config, env: { GREETING: 'hi' } })
    expect(changed.outcome).toMatchObject({ exports: { env: 'hi' } })
    expect((await at.inspect())?.Id).not.toBe(container?.Id)
    expect((await at.remove(config)).outcome).toEqual({ phase: 'GONE' })
    expect(await at.leftovers()).toEqual([])
    expect((await at.remove(config)).outcome).toEqual({ phase: 'GONE' })
  })

  test('a job may do little: no network, no capability, no root of its own to write', async () => {
    await using at = await place()
    const look = `cat /proc/net/dev /proc/self/status >&2; mkdir /new 2>&1; mkdir /tmp/new && echo made`
    const { outcome, lines } = await at.deploy(script(look, { output: 'text', user: 1000 }))
    expect(outcome).toEqual({ phase: 'SUCCEEDED', exports: {} })
    const text = lines.join('\n')
    expect(text).toMatch(/STDERR NoNewPrivs:\t1/)
    expect(text).toMatch(/STDERR CapBnd:\t0+$/m)
    expect(text).toMatch(/STDERR Uid:\t1000/)
    expect(text).toMatch(/STDERR +lo:/)
    expect(text).not.toMatch(/STDERR +eth0:/)
    expect(text).toMatch(/STDOUT mkdir: .*Read-only file system/)
    expect(lines).toContain('STDOUT made')
  })

  test('a job that fails says why', async () => {
    await using at = await place()
    const errorOf = async (config: object) => (await at.deploy(config)).error
    expect(await errorOf(script('echo first >&2; echo no such table >&2; exit 3'))).toBe(
      'CONTAINER_FAILED: It ended with exit code 3. Its last lines:\nfirst\nno such table',
    )
    expect(await errorOf(script('echo Error the disk is full'))).toBe('CONTAINER_FAILED: the disk is full')
    expect(await errorOf(script(`sh -c 'kill -9 $$'; exit $?`))).toMatch(/^CONTAINER_FAILED: It was ended by SIGKILL/)
    // Podman does not notice the cause on a system with the older control groups.
    expect(await errorOf(script('x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done', { memory: '16m' }))).toMatch(
      /^CONTAINER_(OUT_OF_MEMORY: It needed more memory|FAILED: It was ended by SIGKILL)/,
    )
    expect(await errorOf(script('echo nonsense; sleep 1000'))).toMatch(
      /^CONTAINER_PROTOCOL: It broke the gadget protocol. Line 1: the unknown word .* unless the config says `output: text`\.$/,
    )
    expect(await errorOf({ image: 'localhost/no/such:1' })).toMatch(
      /^CONTAINER_IMAGE: Its image localhost\/no\/such:1 cannot/,
    )
    expect(await errorOf(script('', { command: ['/no/such'] }))).toMatch(/^CONTAINER_START: .*\/no\/such/)
    expect(await errorOf(script('', { image: '-x', memory: 'much' }))).toMatch(
      /^CONTAINER_CONFIG: (config.image|config.memory): .*\n(config.image|config.memory): /,
    )
    const removed = at.begin(script('echo STEP waits; sleep 1000'))
    await until(() => removed.lines.includes('STEP waits'), { what: 'it runs' })
    await at.docker.getContainer(at.name).remove({ force: true })
    expect((await removed.worked).error).toMatch(/^CONTAINER_REMOVED/)
  })

  test('while the engine does not answer, the item is given back, to be offered again', async () => {
    await using at = await itemPlace('/no/such/engine.sock')
    const error = { code: 'CONTAINER_ENGINE', message: 'The engine does not answer: ENOENT.', retryable: true }
    expect((await at.deploy(script('true'))).outcome).toEqual({ phase: 'PROGRESSING', error })
    expect((await at.remove(script('true'))).outcome).toEqual({ phase: 'PROGRESSING', error })
  })

  test('a container of that name that is not the item’s is not touched', async () => {
    await using at = await place()
    const { name, docker } = at
    const theirs = await docker.createContainer({ name, Image: script('').image, Cmd: ['true'] })
    expect((await at.deploy(script('true'))).error).toMatch(
      /^CONTAINER_NOT_OWNED: The container phaseline-item-.* is not/,
    )
    expect((await at.remove()).outcome).toEqual({ phase: 'GONE' })
    expect((await at.inspect())?.Id).toBe(theirs.id)
    await theirs.remove()
  })

  test('the shutdown of the deployer leaves a job running for the next one; a user’s request ends it', async () => {
    await using at = await place()
    const config = script(`trap 'echo EXPORT ended 1; exit 0' TERM; echo STEP waits; while true; do sleep 0.1; done`)
    const jobId = randomUUID()
    const first = at.begin(config, { jobId })
    await until(() => first.lines.includes('STEP waits'), { what: 'it runs' })
    first.stop('SHUTDOWN')
    expect((await first.worked).outcome).toEqual({ phase: 'ABORTED' })
    const second = at.begin(config, { jobId, attempt: 2 })
    await until(() => second.lines.includes('STEP waits'), { what: 'it is adopted' })
    await at.docker.getContainer(at.name).kill({ signal: 'SIGTERM' })
    expect((await second.worked).outcome).toEqual({ phase: 'SUCCEEDED', exports: { ended: 1 } })
    const third = at.begin(config)
    await until(() => third.lines.includes('STEP waits'), { what: 'it runs again' })
    third.stop('ABORT_REQUESTED')
    expect((await third.worked).outcome).toEqual({ phase: 'ABORTED' })
    expect(await at.leftovers()).toEqual([])
  })

  test('a deletion runs the command for it, with the secrets; one that fails keeps the item', async () => {
    await using at = await place()
    const secrets = { PASSWORD: 'marker of a secret' }
    const config = (deletion: string) => script('true', { secrets, delete: ['sh', '-c', deletion] })
    await at.deploy(config('true'))
    const failing = await at.remove(config('echo it is in use >&2; exit 1'))
    expect(failing.error).toBe('CONTAINER_FAILED: It ended with exit code 1. Its last lines:\nit is in use')
    const working = await at.remove(config('echo STEP dropping; test -s $PHASELINE_SECRETS/PASSWORD'))
    expect(working).toMatchObject({ outcome: { phase: 'GONE' }, lines: ['STEP dropping'] })
    expect(await at.leftovers()).toEqual([])
  })
})
