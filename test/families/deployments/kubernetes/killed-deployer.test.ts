import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startAgentProcess } from '../../../../src/agents/spawn.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { startTestApp } from '../../../testkit/app.ts'
import { ask } from '../../../testkit/ask.ts'
import { hasCluster } from '../../../testkit/cluster.ts'
import { MUTATIONS } from '../../../testkit/documents.ts'
import { gql } from '../../../testkit/gql.ts'
import { create, remove, show } from '../../../testkit/mutations.ts'
import { seeded } from '../../../testkit/seed.ts'
import { soak } from '../../../testkit/soak.ts'
import { until } from '../../../testkit/wait.ts'
import { configMap, manifestPlace } from './manifest-place.ts'

const random = seeded()

/** More than the deployer applies before it is killed. */
const OBJECTS = 40

describe.runIf(hasCluster())('the process of a deployer', () => {
  test('without targets takes only items without one; the plan names the target that nobody serves', async () => {
    await using at = await manifestPlace()
    await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
    const input = { name: 'deployer', role: 'AGENT', actor: 'DEPLOYER', types: ['kubernetes-manifest'] } as const
    const token = new Secret((await ask(server.client, MUTATIONS.createToken, input)).secret)
    const agent = startAgentProcess({
      ...{ types: [...input.types], url: server.url, token, leaseMs: 2_000 },
      options: { namespace: at.namespace },
      settings: { KUBECONFIG: process.env.KUBECONFIG ?? '' },
    })
    const itemOf = (name: string, target?: string) => ({
      ...{ name, type: 'kubernetes-manifest', config: { manifests: [configMap(name)] } },
      ...(target === undefined ? {} : { target }),
    })
    const here = await create(server.client, 'here', { deployItems: [itemOf('near')] })
    const there = await create(server.client, 'there', { deployItems: [itemOf('far', 'prod')] })
    await until(async () => (await show(server.client, here))?.finished, { what: 'the item without a target is done' })
    expect(await show(server.client, here)).toMatchObject({ phase: 'SUCCEEDED' })
    const { object } = await server.client.query(
      gql('query ($id: ID!) { object(id: $id) { phase blockedBy { reason message } } }'),
      { id: there },
    )
    expect(object).toMatchObject({
      phase: 'PROGRESSING',
      blockedBy: [{ reason: 'AGENT', message: expect.stringContaining('for the target prod') }, { reason: 'CHILDREN' }],
    })
    await agent.close()
  })

  test('that is killed between an application and its report: the next one goes on, nothing is made twice or left', async () => {
    await using at = await manifestPlace()
    await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
    const input = { name: 'deployer', role: 'AGENT', actor: 'DEPLOYER', types: ['kubernetes-manifest'] } as const
    const token = new Secret((await ask(server.client, MUTATIONS.createToken, input)).secret)
    const start = () =>
      startAgentProcess({
        ...{ types: [...input.types], url: server.url, token, leaseMs: 2_000 },
        options: { namespace: at.namespace },
        settings: { KUBECONFIG: process.env.KUBECONFIG ?? '' },
      })
    const names = Array.from({ length: OBJECTS }, (_, i) => `c${i}`)
    const config = { manifests: names.map((name) => configMap(name)) }
    const deployItems = [{ name: 'it', type: 'kubernetes-manifest', config }]
    const found = async () => (await at.leftovers()).filter((name) => !name.includes('phaseline-')).length
    const kill = async (agent: ReturnType<typeof start>): Promise<void> => {
      if (agent.pid !== null) process.kill(agent.pid, 'SIGKILL')
      await agent.close()
    }
    for (let round = 0; round < soak(1, 10); round += 1) {
      let agent = start()
      const id = await create(server.client, 'shop', { deployItems })
      await until(async () => (await found()) > 0, { what: 'something is applied' })
      await delay(random() * 100)
      await kill(agent)
      const uid = (await at.find('configmaps', 'c0'))?.metadata.uid
      agent = start()
      await until(async () => (await show(server.client, id))?.finished, { what: 'it is done' })
      expect(await show(server.client, id)).toMatchObject({ phase: 'SUCCEEDED' })
      expect(await found()).toBe(OBJECTS)
      expect((await at.find('configmaps', 'c0'))?.metadata.uid).toBe(uid)
      await remove(server.client, id)
      await until(async () => (await found()) < OBJECTS, { what: 'something is deleted' })
      await kill(agent)
      agent = start()
      await until(async () => (await show(server.client, id)) === null, { what: 'it is gone' })
      expect(await at.leftovers()).toEqual([])
      await agent.close()
    }
  })
})
