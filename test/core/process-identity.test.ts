import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Looks at itself and at a process that does not exist, once as usual and once while it may open no more files. */
const PROGRAM = `
  import { openSync } from 'node:fs'
  import { isAlive, identityOf } from '${join(import.meta.dirname, '../../src/process/identity.ts')}'
  import { isRunning } from '${join(import.meta.dirname, '../../src/store/embedded/postmaster.ts')}'
  const identity = await identityOf(process.pid)
  const own = { pid: process.pid, identity }
  const other = { pid: 4194303, identity }
  const before = [await isAlive(own), await isAlive(other), await isRunning(own), await isRunning(other)]
  try { for (;;) openSync('/dev/null') } catch {}
  const failed = await isAlive(own).catch(({ code }) => code)
  process.stdout.write(JSON.stringify({ before, failed, isRunning: await isRunning(own) }))
`

test('a process that may open no more files takes no other one for ended', () => {
  const args = ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, PROGRAM]
  const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({ before: [true, false, true, false], failed: 'EMFILE', isRunning: true })
})
