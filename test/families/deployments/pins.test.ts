import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { anotherDriver, columnsOf, type Driver, exporter, importer, specOf, using } from '../../testkit/deployments.ts'
import { until } from '../../testkit/wait.ts'
import { createWorld, DEPLOYER, item, succeed, USER, type World } from '../../testkit/world.ts'

const ROUNDS = 30
const GOING = ['INIT_DELETE', 'TRIGGER_DELETE', 'DELETING']

/** Settles with two engine hosts, which reconcile due trees at the same time. */
async function settleTogether(world: World, other: Driver): Promise<void> {
  for (let due = await world.due(); due.length > 0; ) {
    const looks = due.flatMap((id) => [
      world.engineHost.runner.reconcile(id, false),
      other.engineHost.runner.reconcile(id, false),
    ])
    await Promise.all(looks)
    due = await world.due()
  }
}
/** A connection waits for a lock of another one. */
const somebodyWaits = async (world: World): Promise<boolean> => {
  const { rows } = await world.pool.query(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.length > 0
}
const reconcile = (driver: Pick<Driver, 'engineHost'>, id: string) => driver.engineHost.runner.reconcile(id, false)

/** A root that has succeeded and exports `name`; its item makes its deletion last. */
async function exporting(world: World, root: string, name: string): Promise<string> {
  const id = await world.create(root, exporter(name))
  await world.work((work) => ({ ...succeed(work), exports: { [name]: root } }))
  return id
}
const removeBy = (driver: Pick<Driver, 'commands'>, id: string) =>
  driver.commands.deleteInstallation(USER, { id, force: false, withoutUninstall: false })

/** How it came out between `db` and `app` of a round, over `url`. */
async function outcomeOf(world: World, round: number | ''): Promise<'took in' | 'went' | 'neither'> {
  const db = (await world.exists(`db${round}`)) ? await world.see(`db${round}`) : null
  const app = await world.see(`app${round}`)
  const took = Object.hasOwn((await columnsOf(world, app.id)).imports ?? {}, `url${round}`)
  const went = db === null || GOING.includes(db.phase)
  expect(took && went, `round ${round}: taken in, and deleted`).toBe(false)
  if (!took) expect(app).toMatchObject({ phase: 'PENDING_DEPENDENCIES' })
  if (!went) expect(db).toMatchObject({ phase: 'DELETE_FAILED', error: { code: 'SIBLING_IMPORT' } })
  return took ? 'took in' : went ? 'went' : 'neither'
}

interface Taking {
  readonly world: World
  readonly round: number
  /** Names to import. */
  readonly name: string
}
type Take = (driver: Pick<Driver, 'engineHost' | 'commands'>) => Promise<void>

async function byCreation({ round, name }: Taking): Promise<Take> {
  const input = { project: 'default', name: `app${round}`, spec: importer(name), reconcile: true }
  return async (driver) => {
    const outcome = await driver.commands.createInstallation(USER, input)
    if (outcome.ok) await reconcile(driver, outcome.objectId)
  }
}
async function byUpdate({ world, round, name }: Taking, mode: 'STANDARD' | 'FORCE' = 'STANDARD'): Promise<Take> {
  const id = await world.create(`app${round}`, importer(`missing${round}`))
  await world.reconcile(id, mode)
  return async (driver) => {
    await driver.commands.updateInstallation(USER, { id, spec: importer(name), reconcile: false })
    await reconcile(driver, id)
  }
}

describe('an importer that takes in exports while their exporter starts to be deleted', () => {
  it.each([
    ['created', byCreation],
    ['updated', byUpdate],
    ['forced', (taking: Taking) => byUpdate(taking, 'FORCE')],
  ] as const)(
    '%s at that moment: never both',
    async (_, prepare) => {
      await using world = await createWorld()
      await using other = await anotherDriver(world)
      const outcomes = new Set<string>()
      for (let round = 0; round < ROUNDS; round++) {
        const name = `url${round}`
        const id = await exporting(world, `db${round}`, name)
        const take = await prepare({ world, round, name })
        const remove = async (driver: Driver | World) => {
          // A different head start in every round, so that each meets the other in another place.
          await delay(round % 6)
          await removeBy(driver, id)
          await reconcile(driver, id)
        }
        const [first, second] = round % 2 === 0 ? [world, other] : [other, world]
        // Now and then one after the other, so that both ends are seen.
        if (round % 10 === 8) await take(first).then(() => remove(second))
        else if (round % 10 === 9) await remove(second).then(() => take(first))
        else await Promise.all([take(first), remove(second)])
        await settleTogether(world, other)
        outcomes.add(await outcomeOf(world, round))
      }
      expect(outcomes).toContain('took in')
      expect(outcomes).toContain('went')
    },
    120_000,
  )

  it('waits at the lock for the exporter’s decision, and then sees it', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    const db = await exporting(world, 'db', 'url')
    const app = await world.create('app', importer('missing'))
    const gate = await world.pool.connect()
    await gate.query('begin')
    // The exporter has decided to go and cannot commit yet: its last statement draws a number for the log.
    await gate.query('lock table log_batch in access exclusive mode')
    await removeBy(other, db)
    const going = reconcile(other, db)
    await until(() => somebodyWaits(world), { what: 'the exporter waits to commit' })
    const taking = world.commands
      .updateInstallation(USER, { id: app, spec: importer('url'), reconcile: false })
      .then(() => reconcile(world, app))
    await delay(50)
    await gate.query('commit')
    gate.release()
    await Promise.all([going, taking])
    await settleTogether(world, other)
    expect(await outcomeOf(world, '')).toBe('went')
    await world.work()
    expect(await world.exists('db')).toBe(false)
  })

  it('holds on to what it took in even when its spec imports it no more, until a job succeeds without it', async () => {
    await using world = await createWorld()
    const db = await exporting(world, 'db', 'url')
    const app = await world.create('app', importer('url'))
    await world.work()
    await world.update(app, { deployItems: [using('use', [])] })
    await world.remove(db)
    expect(await world.see('db')).toMatchObject({ phase: 'DELETE_FAILED', error: { causes: [{ name: 'app' }] } })
    await world.work(() => ({ phase: 'FAILED' }))
    await world.remove(db)
    expect(await world.see('db')).toMatchObject({ phase: 'DELETE_FAILED' })
    await world.reconcile(app)
    await world.work()
    await world.remove(db)
    expect(await world.see('db')).toMatchObject({ phase: 'DELETING' })
  })
})

describe('a wake-up is never lost', () => {
  it('when an exporter succeeds while its importer judges it unready', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    for (let round = 0; round < ROUNDS; round++) {
      const name = `url${round}`
      await world.create(`db${round}`, exporter(name))
      const app = await world.create(`app${round}`, importer(name), false)
      const [make] = await other.engineHost.agents
        .claim(DEPLOYER, { instance: 'other', types: ['mock'], targets: null, max: 1, leaseMs: 30_000 })
        .then((outcome) => (outcome.ok ? outcome.items : []))
      const succeeding = async () => {
        await delay(round % 4)
        const report = { fence: make?.fence ?? '', phase: 'SUCCEEDED', exports: { [name]: 1 } } as const
        await other.engineHost.agents.report(DEPLOYER, [report])
        const { id } = await world.see(`db${round}`)
        await reconcile(other, id)
      }
      const judging = async () => {
        await world.commands.reconcileInstallation(USER, { id: app, mode: 'STANDARD' })
        await reconcile(world, app)
      }
      await Promise.all([succeeding(), judging()])
      await settleTogether(world, other)
      expect(await world.see(`app${round}`), `round ${round}`).toMatchObject({ phase: 'PROGRESSING' })
      await world.work()
    }
  })

  it('when an importer is created while its exporter has woken its importers and has not committed', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    const db = await exporting(world, 'db', 'url')
    await world.reconcile(db)
    const [make] = await world.claim()
    const gate = await world.pool.connect()
    await gate.query('begin')
    // The exporter writes this after it has searched for importers.
    await gate.query('select 1 from data_object for update')
    const report = { fence: make?.fence ?? '', phase: 'SUCCEEDED', exports: { url: 'two' } } as const
    const succeeding = other.engineHost.agents.report(DEPLOYER, [report]).then(() => reconcile(other, db))
    await until(() => somebodyWaits(world), { what: 'the exporter waits to write its exports' })
    const created = await specOf(world, 'app', importer('url'))
    if (!created.ok) throw new Error(created.refusal.message)
    const judging = reconcile(world, created.objectId)
    await Promise.race([judging, delay(100)])
    await gate.query('commit')
    gate.release()
    await Promise.all([succeeding, judging])
    await settleTogether(world, other)
    expect(await columnsOf(world, created.objectId)).toMatchObject({ imports: { url: 'two' } })
  })

  it('when a user sets the data while its importer judges it missing', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    for (let round = 0; round < ROUNDS; round++) {
      const name = `key${round}`
      const app = await world.create(`app${round}`, importer(name), false)
      const judging = async () => {
        await world.commands.reconcileInstallation(USER, { id: app, mode: 'STANDARD' })
        await reconcile(world, app)
      }
      const setting = async () => {
        await delay(round % 4)
        await other.commands.setDataObject(USER, { project: 'default', name, value: round })
        await reconcile(other, app)
      }
      await Promise.all([judging(), setting()])
      await settleTogether(world, other)
      expect(await world.see(`app${round}`), `round ${round}`).toMatchObject({ phase: 'PROGRESSING' })
    }
  })

  it('when an importer that was waited for is gone while its exporter judges it', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    for (let round = 0; round < ROUNDS; round++) {
      const name = `url${round}`
      const db = await world.create(`db${round}`, { exports: [{ name, value: 1 }] })
      const app = await world.create(`app${round}`, { imports: [{ name }], deployItems: [item('x')] })
      await world.work()
      await world.remove(app)
      const [x] = await world.claim()
      const going = async () => {
        await delay(round % 4)
        await other.engineHost.agents.report(DEPLOYER, [{ fence: x?.fence ?? '', phase: 'GONE' }])
      }
      const judging = async () => {
        await removeBy(world, db)
        await reconcile(world, db)
      }
      await Promise.all([going(), judging()])
      await settleTogether(world, other)
      expect(await world.exists(`db${round}`), `round ${round}`).toBe(false)
    }
  })
})
