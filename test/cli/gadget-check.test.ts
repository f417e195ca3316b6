import { describe, expect, it } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { gadgetFolder } from '../agents/gadget-folder.ts'

interface Answer {
  readonly ok: boolean
  readonly rules: readonly { readonly rule: string; readonly ok: boolean; readonly problem: string | null }[]
}

async function phaseline(...argv: readonly string[]) {
  let [out, err] = ['', '']
  const code = await run(['gadget', 'check', ...argv], {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin: (async function* () {})(),
    env: { PATH: process.env.PATH },
    signal: new AbortController().signal,
  })
  return { code, out, err }
}

/** Checks a script; what is wrong with it, by rule. */
async function wrongWith(script: string, ...args: readonly string[]) {
  await using folder = await gadgetFolder()
  const path = await folder.add('x', script)
  const { code, out } = await phaseline('--json', '--grace', '1', path, '--', ...args, `file=${folder.path}/made`)
  const { ok, rules } = JSON.parse(out) as Answer
  expect(code).toBe(ok ? 0 : 1)
  expect(rules.length).toBeGreaterThan(8)
  return Object.fromEntries(rules.filter((rule) => !rule.ok).map(({ rule, problem }) => [rule, problem]))
}

/** A right one; each test breaks a single thing of it. */
const script = (broken: Readonly<Record<string, string>> = {}): string => {
  const parts = {
    protocols: '',
    getlocks: 'echo LOCK file:made=X',
    run: 'echo STEP Making; test -e "$dir/made" || : > "$dir/made"; echo EXPORT n 1; sleep 0.05',
    undo: 'rm -f "$dir/made"',
    abort: 'rm -f "$dir/made"',
    ...broken,
  }
  return `mode=run
for a; do case $a in --getlocks|--undo|--abort) mode=\${a#--};; esac; done
${parts.protocols}
case $mode in getlocks) ${parts.getlocks};; undo) ${parts.undo};; abort) ${parts.abort};; run) ${parts.run};; esac`
}

describe('gadget check', () => {
  it('finds nothing wrong with a gadget that keeps the rules', async () => {
    expect(await wrongWith(script())).toEqual({})
  })

  it('names the same job in every call, as a runner does', async () => {
    await using folder = await gadgetFolder()
    const note = 'echo "$PHASELINE_JOB" >> "$dir/jobs"'
    const path = await folder.add('x', `${note}\n${script()}`)
    await phaseline(path)
    expect(await folder.read('jobs')).toMatch(/^([\da-f-]{36})\n(\1\n)+$/)
  })

  it.each([
    ['--protocols=text-1.0 is the same', { protocols: 'case $1 in --protocols=*) exit 2;; esac' }, 'exit code 2'],
    ['--getlocks names its locks', { getlocks: 'echo LOCK a:1=S; echo LOCK server=X' }, 'Line 2: LOCK needs'],
    ['--getlocks gives the same answer', { getlocks: 'echo LOCK pid:$$=S' }, 'First it named pid:'],
    ['--getlocks does nothing', { getlocks: ': > "$dir/made"; echo LOCK file:made=X' }, 'It changed '],
    ['a run succeeds', { run: 'echo STEP a; echo PROG 1' }, 'Line 2: PROG before PROGINFO'],
    ['a run succeeds', { run: 'echo Error no room' }, 'It wrote: Error no room'],
    ['a second run notices', { run: 'test -e "$dir/made" && exit 9; : > "$dir/made"' }, 'exit code 9'],
    ['a second run notices', { run: 'echo EXPORT at $$' }, 'It exported another at'],
    ['a second run changes', { run: 'echo STEP a; echo x >> "$dir/made"' }, 'It changed '],
    ['--undo of a run that never was', { undo: 'rm "$dir/made"' }, 'exit code 1'],
    ['--undo succeeds again', { undo: 'rm "$dir/made"' }, 'exit code 1'],
    ['SIGINT ends a run', { run: `trap 'sleep 60' INT; echo STEP on; sleep 1` }, 'had to be killed'],
    ['--abort cleans up', { abort: 'kill -KILL $$' }, 'SIGKILL'],
    ['--abort succeeds again', { abort: 'echo EXPORT n 1' }, 'EXPORT may not come in the answer to abort'],
  ])('says which rule is broken: %s', async (rule, broken, problem) => {
    const wrong = await wrongWith(script(broken))
    const [, found] = Object.entries(wrong).find(([name]) => name.startsWith(rule)) ?? []
    expect(found, JSON.stringify(wrong)).toContain(problem)
  })

  it('names the line that is malformed, in words, and does not run what cannot be run', async () => {
    await using folder = await gadgetFolder()
    const path = await folder.add('x', script({ run: 'echo STEP fine; echo; echo STEP more' }))
    const { code, out } = await phaseline(path, '--', '--verbose')
    expect(code).toBe(1)
    expect(out).toContain('ok  --getlocks names its locks\n')
    expect(out).toContain('NOT a run succeeds\n    It broke the gadget protocol. Line 2: an empty line.\n')
    expect(out).toMatch(/It breaks \d of \d+ rules\.\n$/)
    expect(await phaseline(`${folder.path}/none`)).toMatchObject({
      code: 2,
      err: expect.stringContaining('does not exist'),
    })
    expect(await phaseline(folder.path)).toMatchObject({ code: 2, err: expect.stringContaining('not a file') })
    expect(await phaseline('--env', 'PATH=/x', path)).toMatchObject({ code: 2 })
  })
})
