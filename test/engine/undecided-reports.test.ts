import { expect, test } from 'vitest'
import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import { at, itemsOf, only } from '../testkit/items.ts'
import { createWorld, DEPLOYER, item, type World } from '../testkit/world.ts'

/** When the consequences of a report cannot be written, as with a full disk of the database, the report is kept. */

/** The database refuses each move of this item, as long as it is not disposed of. */
async function refuseMoves({ pool }: World, name: string): Promise<AsyncDisposable> {
  await pool.query(`
    create function refuse_move() returns trigger language plpgsql as $$ begin
      raise exception using errcode = 'disk_full', message = 'could not extend file';
    end $$;
    create trigger refuse_move before update on object for each row
      when (new.name = '${name}' and new.phase is distinct from old.phase) execute function refuse_move();`)
  return {
    [Symbol.asyncDispose]: async () =>
      void (await pool.query('drop trigger refuse_move on object; drop function refuse_move()')),
  }
}

async function report(world: World, fence: string, phase: 'SUCCEEDED' | 'GONE'): Promise<void> {
  const outcome = await world.engineHost.agents.report(DEPLOYER, [{ fence, phase }])
  expect(outcome).toMatchObject({ ok: true, results: [{ ok: true, changed: true }] })
}

test('what waited for an item that has ended goes on afterwards', async () => {
  await using world = await createWorld({ ownDatabase: true })
  await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
  {
    await using _ = await refuseMoves(world, 'b')
    await report(world, only(await world.claim()).fence, 'SUCCEEDED')
  }
  expect(await itemsOf(world)).toEqual({ a: 'SUCCEEDED', b: 'PENDING' })
  await world.settle()
  expect(await world.work()).toEqual(['b'])
  expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
})

test('what waited for the deletion of an item is deleted afterwards', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a']), item('keep')] })
  await world.work()
  await world.update(id, { deployItems: [item('keep')] })
  {
    await using _ = await refuseMoves(world, 'a')
    await report(world, only(await world.claim()).fence, 'GONE')
  }
  expect(await world.exists(...at('b'))).toBe(false)
  await world.settle()
  await world.work()
  expect(await itemsOf(world)).toEqual({ keep: 'SUCCEEDED' })
  expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
})

test('several reports of an item in one call release what waits for it once', async () => {
  await using world = await createWorld()
  await world.create('shop', { deployItems: [item('a'), item('b'), item('c', ['a', 'b'])] })
  const [{ fence }] = (await world.claim()).filter(({ name }) => name === 'a') as [ClaimedItem]
  const reports: Report[] = [
    { fence, progress: { step: 'last' } },
    { fence, phase: 'SUCCEEDED' },
  ]
  expect(await world.engineHost.agents.report(DEPLOYER, reports)).toMatchObject({ ok: true })
  await world.settle()
  expect(await itemsOf(world)).toMatchObject({ a: 'SUCCEEDED', c: 'PENDING' })
})
