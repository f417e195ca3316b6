import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { HELP_GROUPS } from '../../src/cli/cli.ts'
import { withFollow } from '../../src/cli/options.ts'
import { createProgram, ELSEWHERE } from '../../src/cli/program.ts'
import { families } from '../../src/families/index.ts'
import { commandLine } from './command.ts'

const phaseline = commandLine({})

test('the help has the commands in their groups, and each of them in one', async () => {
  const { out } = await phaseline('--help')
  const headings = [...out.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(['Options', ...Object.values(HELP_GROUPS), 'Examples'])
})

test('the next steps of a new agent name the server of this folder, if the agent would not find it', async () => {
  await using stack = new AsyncDisposableStack()
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-init-')), (path) => rm(path, { recursive: true }))
  const init = async (name: string, env: Readonly<Record<string, string>>) =>
    (await phaseline(`init ${join(folder, name)}`, { env })).out
  expect(await init('near', { PHASELINE_URL: 'http://127.0.0.1:4100' })).toContain(
    '\n  PHASELINE_URL=http://127.0.0.1:4100/graphql PHASELINE_TOKEN=$(',
  )
  expect(await init('apart', {})).toContain(`npm --prefix ${join(folder, 'apart')} install && `)
  await mkdir(join(folder, 'node_modules/phaseline'), { recursive: true })
  await writeFile(join(folder, 'node_modules/phaseline/package.json'), '{ "name": "phaseline" }')
  expect(await init('below', {})).not.toContain('install')
  expect(await init('here', { PHASELINE_DATA: join(folder, 'none') })).toContain('\n  PHASELINE_TOKEN=$(')
})

test('a command of another program is answered with ours', async () => {
  const { commands } = await createProgram({ io: process, exitCode: 0 } as never, families, [])
  const names = commands.map((command) => command.name())
  expect(Object.values(ELSEWHERE).filter((ours) => !names.includes(ours))).toEqual([])
  // A command of ours is never unknown.
  expect(Object.keys(ELSEWHERE).filter((other) => names.includes(other))).toEqual([])
  expect(await phaseline('describe shop')).toMatchObject({
    code: 2,
    err: expect.stringContaining('phaseline get does'),
  })
  // A word that is spelt like a command that does harm is none of those.
  for (const word of ['destroy', 'restart']) expect((await phaseline(`${word} shop`)).err).not.toContain('restore')
  // Words that are only spelt alike are suggested as well.
  expect((await phaseline('delte shop')).err).toContain('Did you mean delete?')
  expect((await phaseline('constructor')).err).toContain("unknown command 'constructor'")
})

/** A command with all beneath it. */
const everyCommand = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyCommand)]

test('commands that follow spell it -f, --follow, unless -f is a file there', async () => {
  const all = everyCommand(await createProgram({ io: process, exitCode: 0 } as never, families))
  const following = all.filter(({ options }) => options.some(({ long }) => long === '--follow'))
  expect(following.map((command) => command.name())).toEqual(expect.arrayContaining(['log', 'logs', 'list', 'retry']))
  for (const command of following) {
    const short = command.options.find((option) => option.short === '-f')
    expect(short?.long, command.name()).toMatch(/^--(follow|file)$/)
  }
  expect(withFollow(new Command(), 'print what comes').parse(['-F'], { from: 'user' }).opts()).toMatchObject({
    follow: true,
  })
})

test('each command that destroys takes --yes', async () => {
  const program = await createProgram({ io: process, exitCode: 0 } as never, families)
  const all = everyCommand(program)
  const silent = all.filter(
    (command) => /^(delete|revoke)\b/.test(command.name()) && !command.options.some(({ long }) => long === '--yes'),
  )
  expect(silent.map((command) => [command.parent?.name(), command.name()])).toEqual([])
  const yes = all
    .filter(({ options }) => options.some(({ long, short }) => long === '--yes' && short === '-y'))
    .map((command) => [command.parent?.name(), command.name()].join(' ').replace('phaseline ', ''))
  expect(yes).toEqual(expect.arrayContaining(['apply', 'restore', 'bulk cancel', 'event cancel-many']))
})
