import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { completeNames } from '../../src/cli/complete-names.ts'
import type { Completed } from '../../src/cli/completed.ts'
import { startTestApp } from '../testkit/app.ts'
import { commandLine } from './command.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')

test('names are completed from the server, and silence is the answer to a failure', async () => {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  const home = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-completion-')), (path) =>
    rm(path, { recursive: true }),
  )
  const env = { PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, XDG_CONFIG_HOME: home }
  const phaseline = commandLine(env)
  const done = async (args: string, given?: object) =>
    expect(await phaseline(args, given && { stdin: JSON.stringify(given) })).toMatchObject({ code: 0 })
  await done('project create web')
  const spec = { deployItems: [{ name: 'db', type: 'mock' }] }
  for (const [project, name] of [
    ['default', 'shop'],
    ['default', 'shelf'],
    ['default', 'web'],
    ['web', 'site'],
  ] as const)
    await done('apply -f -', { project, name, spec })
  await done('task run -f -', { name: 'shred', jobs: [{ name: 'a', gadget: 'a' }] })
  await done(`context add staging ${server.url}`)

  const said: string[] = []
  const output = { write: (text: unknown) => said.push(String(text)) }
  const complete = async (completed: Completed, text: string, line = '', more: object = {}) => {
    const stdin = (async function* () {})()
    const io = { env: { ...env, ...more }, stdin, stdout: output, stderr: output, signal: new AbortController().signal }
    return (await completeNames(io, { completed, text, words: line.split(' ') })).toSorted()
  }
  expect(await complete('object', 'sh')).toEqual(['shelf', 'shop', 'shred'])
  expect(await complete('INSTALLATION', 'sh')).toEqual(['shelf', 'shop'])
  expect(await complete('object', 'shop/')).toEqual(['shop/deploy-items'])
  expect(await complete('object', 'shop/deploy-items/d')).toEqual(['shop/deploy-items/db'])
  // The first name may be a project.
  expect(await complete('object', 'we')).toEqual(['web', 'web/'])
  expect(await complete('object', 'web/s')).toEqual(['web/site'])
  expect(await complete('object', 'web/site/')).toEqual(['web/site/deploy-items'])
  expect(await complete('object', '', 'phaseline get --project web')).toEqual(['site'])
  expect(await complete('object', 'site/', 'phaseline get --project=web')).toEqual(['site/deploy-items'])
  expect(await complete('project', 'w')).toEqual(['web'])
  expect(await complete('context', 'st')).toEqual(['staging'])
  expect(await complete('object', 'sh', '', { PHASELINE_TOKEN: 'wrong' })).toEqual([])
  expect(await complete('object', 'sh', '', { PHASELINE_URL: 'http://127.0.0.1:1/graphql' })).toEqual([])
  expect(said).toEqual([])

  // As bash calls it.
  const program = join(home, 'bin', 'phaseline')
  await mkdir(join(home, 'bin'))
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
  await chmod(program, 0o755)
  const { out: script } = await phaseline('completion bash')
  const inBash = async (...typed: readonly string[]) => {
    // It divides words at these, too.
    const words = typed.flatMap((word) => word.split(/([=:]+)/)).map((word) => `'${word}'`)
    const line = `COMP_LINE='${typed.join(' ')}'; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}`
    const asked = `${line}; _phaseline; echo "\${COMPREPLY[@]}"`
    const paths = `${join(home, 'bin')}:${process.env.PATH}`
    const { stdout } = await promisify(execFile)('bash', ['-c', `${script}\n${asked}`], {
      env: { ...env, PATH: paths },
    })
    return stdout.trim()
  }
  expect(await inBash('phaseline', 'get', 'she')).toBe('shelf')
  expect(await inBash('phaseline', 'get', '--project', 'w')).toBe('web')
  expect(await inBash('phaseline', 'promote', 'shop', '--to', 'w')).toBe('web')
  expect(await inBash('phaseline', 'context', 'use', 's')).toBe('staging')
  expect(await inBash('phaseline', 'get', '--name')).toBe('--name-contains')
  expect(await inBash('phaseline', 'get', '--project=web', 's')).toBe('site')
  expect(await inBash('phaseline', '--url', server.url, 'get', 'she')).toBe('shelf')
  // zsh reads the same script, and these arrays of it are settings of the shell: an empty `path` finds no program.
  const [, declared = ''] = /^ {2}local (.*)$/m.exec(script) ?? []
  const variables = declared.split(' ').map((one) => one.split('=')[0])
  expect(variables).toContain('names')
  for (const special of ['path', 'fpath', 'cdpath', 'manpath', 'argv', 'status'])
    expect(variables).not.toContain(special)
  expect((await phaseline('completion fish')).out).toContain('completion names TASK')
})
