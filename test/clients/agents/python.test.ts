import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { boundsItsAnswers, conformance, survivesExits } from './conformance.ts'

conformance('Python')
boundsItsAnswers('Python')
survivesExits('Python', 'work that calls sys.exit fails alone', 'exit(3)')

const MYPY = '/usr/bin/mypy'
test.skipIf(!existsSync(MYPY))('the client in Python has no error of types', { timeout: 120_000 }, async () => {
  const checked = promisify(execFile)(MYPY, ['--cache-dir', '/dev/null', 'phaseline'], { cwd: 'clients/python' })
  await expect(checked).resolves.toMatchObject({ stdout: expect.stringContaining('no issues found') })
})
