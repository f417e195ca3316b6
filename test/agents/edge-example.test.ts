import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const EXAMPLE = join(import.meta.dirname, '../../examples/edge/run.mjs')

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'phaseline-edge-example-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

it('the example of two cloudlets ends with records and folders that agree, and leaves nothing', async ({ signal }) => {
  await using temporary = await temporaryFolder()
  const child = spawn(process.execPath, [EXAMPLE], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: temporary.path },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  signal.addEventListener('abort', () => child.kill('SIGTERM'))
  const [code] = (await once(child, 'close')) as [number | null]
  expect({ code, output }).toMatchObject({ code: 0 })
  expect(output).toMatch(/south.*ended \(SIGKILL\)/)
  // The machine's speed decides which requests are half done.
  expect(output).toMatch(/\d were half done and are as they were before/)
  expect(output).toMatch(/meanwhile, an update of north\/c1: CLOUDLET_UPGRADING/)
  expect(output).toMatch(/north \(upgrade\) +INIT_OK → READY +CRM_V2/)
  expect(output.match(/^ {2}= (north|south)\/c\d/gm)).toHaveLength(12)
  expect(output).not.toContain('≠')
  expect(await readdir(temporary.path)).toEqual([])
})
