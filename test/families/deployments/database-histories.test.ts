import fc from 'fast-check'
import { afterAll, beforeAll, it } from 'vitest'
import { soak } from '../../testkit/soak.ts'
import { createWorld, type World } from '../../testkit/world.ts'
import { DatabaseWorld } from './database-world.ts'
import { history, Run } from './job-histories.ts'

/** The histories of `histories.test.ts` on a real database: commands, statements and foreign keys are under them, too. */

let world: World
let runs = 0
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

it(
  'each job on a database offers, keeps and ends what the model says',
  async () => {
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        await new Run(one, await DatabaseWorld.open(world, `p${++runs}`)).play()
      }),
      { numRuns: soak(50, 300) },
    )
  },
  soak(600_000, 1_800_000),
)
