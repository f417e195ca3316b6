import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandLine, commandLine } from './command.ts'

let home: string
let phaseline: CommandLine
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'phaseline-contexts-'))
  phaseline = commandLine({ XDG_CONFIG_HOME: home, HOME: home })
})
afterAll(() => rm(home, { recursive: true, force: true }))

test('servers have names, and commands call the current one', async () => {
  expect((await phaseline('context list')).out).toBe('No context: phaseline context add NAME URL\n')
  expect(await phaseline('context add prod https://phaseline.example.org/graphql')).toMatchObject({ code: 0 })
  expect(await phaseline('context add test https://test.example.org/graphql')).toMatchObject({ code: 0 })
  expect((await phaseline('whoami')).err).toContain('No token for phaseline.example.org')
  expect(await phaseline('context use test')).toMatchObject({ out: 'Commands call test.\n', code: 0 })
  expect((await phaseline('whoami')).err).toContain('No token for test.example.org')
  expect((await phaseline('whoami --url https://other.example.org/graphql')).err).toContain('other.example.org')
  expect((await phaseline('context list')).out).toMatch(/\n\* +test +https:\/\/test\.example\.org\/graphql\n/)
  expect(await phaseline('context use nowhere')).toMatchObject({
    code: 2,
    err: 'There is no context nowhere: there are prod, test.\n',
  })
  expect(await phaseline('context add bad ftp://example.org')).toMatchObject({ code: 2 })
  expect(await phaseline('context add bad https://me:secret@example.org')).toMatchObject({ code: 2 })
  expect(await phaseline('context remove test')).toMatchObject({ code: 0 })
  expect(JSON.parse((await phaseline('context list --json')).out)).toEqual({
    current: null,
    contexts: { prod: { url: 'https://phaseline.example.org/graphql' } },
  })
})

test('the file is for its user alone, and one that is not ours counts as none', async () => {
  const path = join(home, 'phaseline', 'contexts.json')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readFile(path, 'utf8')).not.toContain('token')
  await writeFile(path, '{"current": 5')
  expect((await phaseline('context list')).out).toContain('No context')
})
