import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MUTATIONS } from '../testkit/documents.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'
import { until } from '../testkit/wait.ts'
import { edgePlace, killableEdgePlace } from './edge-place.ts'

/** The simulated CRM on the real server. */

const to = (seen: { history: { edges: readonly { node: { to: string } }[] } } | null) =>
  seen?.history.edges.map(({ node }) => node.to) ?? []

describe('the simulated CRM and the server', () => {
  it('make, change and remove instances on request', async () => {
    await using place = await edgePlace({ behaviour: { steps: 3, delayMs: [10, 30] } })
    const { mutate, create, untilPhase, untilGone, recorded, found } = place
    const cluster = await create('c1', { nodes: 1 })
    await untilPhase(cluster, 'READY')
    const apps = await Promise.all(['c1/a1', 'c1/a2'].map((path) => create(path)))
    for (const id of apps) await untilPhase(id, 'READY')
    expect(await found()).toEqual(['c1 1', 'c1/a1 1', 'c1/a2 1'])
    await mutate(MUTATIONS.updateAppInst, { id: apps[0] ?? '', spec: { image: 'new' } })
    await until(async () => (await found()).includes('c1/a1 2'), { what: 'updated' })
    await untilPhase(apps[0] ?? '', 'READY')
    expect(await recorded()).toEqual(await found())
    const written = JSON.parse(await readFile(join(place.state, 'c1/apps/a1/spec.json'), 'utf8'))
    expect(written.spec).toEqual({ image: 'new' })
    expect(await mutate(MUTATIONS.deleteClusterInst, { id: cluster })).toBe('IN_USE')
    await mutate(MUTATIONS.deleteClusterInst, { id: cluster, cascade: true })
    await untilGone(cluster)
    expect([await recorded(), await found()]).toEqual([[], []])
    await place.agent.close()
    await untilPhase(place.cloudletId, 'OFFLINE')
  })

  it('continue running requests when the server is killed, with the same epoch', async () => {
    await using place = await killableEdgePlace({ behaviour: { delayMs: [4_000, 4_000] } })
    const { server, create, untilPhase, see } = place
    const cluster = await create('c1')
    await untilPhase(cluster, 'CREATING')
    const epoch = (await see(place.cloudletId))?.epoch
    await server.kill()
    await server.start()
    await untilPhase(cluster, 'READY')
    // The log is read a moment later.
    await until(async () => to(await see(cluster)).at(-1) === 'READY', { what: 'the log says so, too' })
    expect(to(await see(cluster))).toEqual(['NOT_PRESENT', 'CREATE_REQUESTED', 'CREATING', 'READY'])
    expect(await see(place.cloudletId)).toMatchObject({ epoch, phase: 'READY' })
    expect(await place.found()).toEqual(['c1 1'])
  })

  it('remove instances that a killed CRM has left half made, and keep complete ones', async () => {
    await using place = await edgePlace({ behaviour: { delayMs: [3_000, 3_000] } })
    const { create, mutate, untilPhase, untilGone, see, found } = place
    const kept = await create('c1')
    await untilPhase(kept, 'READY')
    await mutate(MUTATIONS.updateClusterInst, { id: kept, spec: { more: true } })
    const half = await create('c2')
    await untilPhase(half, 'CREATING')
    await untilPhase(kept, 'UPDATING')
    await until(async () => (await found()).includes('c2 half'), { what: 'half made' })
    process.kill(place.agent.pid ?? 0, 'SIGKILL')
    await untilGone(half)
    await untilPhase(kept, 'READY')
    const story = ['UPDATE_REQUESTED', 'UPDATING', 'UPDATE_ERROR', 'READY']
    await until(async () => String(to(await see(kept)).slice(-4)) === String(story), { what: 'the log says so, too' })
    expect(await found()).toEqual(['c1 1'])
    expect(await place.recorded()).toEqual(['c1 1'])
    expect((await see(place.cloudletId))?.epoch).toBe(2)
  })

  it("upgrade a cloudlet: the new CRM serves the old one's instances", async () => {
    await using place = await edgePlace()
    const { create, mutate, untilPhase, see, cloudletId } = place
    await untilPhase(await create('c1'), 'READY')
    await mutate(MUTATIONS.upgradeCloudlet, { id: cloudletId, version: '2.0.0' })
    const upgraded = await until(
      async () =>
        ((now) => (now?.version === '2.0.0' && now.upgradePhase === 'READY' ? now : null))(await see(cloudletId)),
      { what: 'upgraded' },
    )
    expect(upgraded).toMatchObject({ phase: 'READY', epoch: 2, orphans: [] })
    await untilPhase(await create('c2'), 'READY')
    expect(await place.found()).toEqual(['c1 1', 'c2 1'])
    // The next one follows when it is killed.
    process.kill(Number(place.said('crm serves').at(-1)?.pid), 'SIGKILL')
    await until(async () => (await see(cloudletId))?.epoch === 3, { what: 'followed' })
    await untilPhase(await create('c3'), 'READY')
    expect(await see(cloudletId)).toMatchObject({ version: '2.0.0', phase: 'READY' })
  })

  it('leave a failed upgrade to an administrator, and the old CRM continues', async () => {
    await using place = await edgePlace({ behaviour: { upgrade: 'NOT_BROUGHT_UP' } })
    const { create, mutate, untilPhase, see, cloudletId } = place
    await mutate(MUTATIONS.upgradeCloudlet, { id: cloudletId, version: '2.0.0' })
    await until(async () => (await see(cloudletId))?.upgradePhase === 'UPDATE_ERROR', { what: 'failed' })
    expect(await create('c1')).toBe('CLOUDLET_UPGRADE_FAILED')
    expect(await see(cloudletId)).toMatchObject({ phase: 'READY', error: { code: 'UPGRADE_FAILED' } })
    await mutate(MUTATIONS.resolveCloudletUpgrade, { id: cloudletId })
    await untilPhase(await create('c1'), 'READY')
    expect(await see(cloudletId)).toMatchObject({ version: '1.0.0', phase: 'READY' })
    expect(place.said('crm serves')).toHaveLength(1)
  })

  it.each([1])('agree in the end, whatever is lost, repeated, late, failed or crashed (seed %i)', async (seed) => {
    const bad = { loseRequests: 0.2, repeatRequests: 0.2, loseBeginnings: 0.2, loseEnds: 0.05 }
    const worse = { repeatReports: 0.2, delayReports: 0.2, fail: 0.15, crash: 0.03 }
    await using place = await killableEdgePlace(
      { behaviour: { seed, steps: 3, delayMs: [20, 300], ...bad, ...worse } },
      { env: { PHASELINE_CRM_SILENCE_MS: '3000' } },
    )
    const { create, mutate, instances, recorded, found, see, cloudletId } = place
    const chance = mulberry32(seed)
    /** A request that a user might have. */
    async function ask(): Promise<string | undefined> {
      const known = await instances()
      const one = known[Math.floor(chance() * known.length)]
      const kind = one?.kind === 'APP_INST' ? 'AppInst' : 'ClusterInst'
      const [dice, cluster, app] = [chance(), Math.floor(chance() * 4), Math.floor(chance() * 3)]
      if (dice < 0.3) return create(`c${cluster}`)
      if (dice < 0.6) return create(`c${cluster}/a${app}`)
      if (!one) return
      if (dice < 0.8) return mutate(MUTATIONS[`update${kind}`], { id: one.id, spec: { dice } })
      if (dice > 0.95) return mutate(MUTATIONS[`cancel${kind}`], { id: one.id })
      return mutate(MUTATIONS[`delete${kind}`], { id: one.id, ...(kind === 'AppInst' ? {} : { cascade: true }) })
    }
    const accept = (count: number) => {
      let accepted = 0
      const asking = async () => {
        if (/^[0-9a-f-]{36}$/.test((await ask()) ?? '')) accepted += 1
        return accepted === count
      }
      return until(asking, { what: `${count} requests are accepted` })
    }
    await accept(15)
    await place.server.kill()
    await place.server.start()
    await accept(10)
    // It may have crashed just now, by itself.
    await until(() => killed(Number(place.said('crm serves').at(-1)?.pid)), { what: 'the CRM is killed' })
    await accept(10)
    const upgraded = async () => {
      const { version, upgradePhase } = (await see(cloudletId)) ?? {}
      // It may have failed, like anything else; and it is refused while anything is in motion.
      if (upgradePhase === 'UPDATE_ERROR') await mutate(MUTATIONS.resolveCloudletUpgrade, { id: cloudletId })
      if (upgradePhase === 'READY' && version === '2.0.0') return true
      if (upgradePhase === 'READY') await mutate(MUTATIONS.upgradeCloudlet, { id: cloudletId, version: '2.0.0' })
      return false
    }
    await until(upgraded, { what: 'upgraded' }).catch(async (error) => {
      throw new Error(`${error.message}\n${JSON.stringify([await see(cloudletId), place.said('crm serves')])}`)
    })
    await accept(10)
    const settled = async () => {
      const known = await instances()
      return known.every(({ phase }) => phase === 'READY') && String(await recorded()) === String(await found())
    }
    await until(settled, { what: 'records and folders agree' }).catch(async (error) => {
      throw new Error(`${error.message}\n${await recorded()}\n${await found()}\n${JSON.stringify(await instances())}`)
    })
    expect((await see(cloudletId))?.phase).toBe('READY')
  })
})

function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
