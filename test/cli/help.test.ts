import { expect, test } from 'vitest'
import { GROUPS } from '../../src/cli/cli.ts'
import { commandLine } from './command.ts'

const phaseline = commandLine({})

test('the help has the commands in their groups, and each of them in one', async () => {
  const { out } = await phaseline('--help')
  const headings = [...out.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(['Options', ...Object.values(GROUPS), 'Examples'])
})

test('a command of another program is answered with ours', async () => {
  expect(await phaseline('describe shop')).toMatchObject({
    code: 2,
    err: expect.stringContaining('phaseline get does'),
  })
  // Words that are only spelt alike are suggested as well.
  expect((await phaseline('delte shop')).err).toContain('Did you mean delete?')
  expect((await phaseline('constructor')).err).toContain("unknown command 'constructor'")
})
