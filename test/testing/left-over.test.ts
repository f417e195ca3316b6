import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { until } from '../testkit/wait.ts'

const USE = `
import { startTestServer } from ${JSON.stringify(new URL('../../src/testing/index.ts', import.meta.url).href)}
const server = await startTestServer()
await server.apply('{ name: shop, spec: { deployItems: [{ name: web, type: web }] } }')
process.send('ready')
await new Promise((ends) => process.once('message', ends))
`

test.each([
  ['ends', 'await server[Symbol.asyncDispose](); process.disconnect()'],
  ['is killed', 'process.kill(process.pid, "SIGKILL")'],
])('neither a process nor a file is left of one that %s', async (_, end) => {
  const folder = await mkdtemp('/tmp/phaseline-left-')
  // Otherwise the Postgres of root has its folder elsewhere.
  await chmod(folder, 0o755)
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '--eval', USE + end], {
    ...{ stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { ...process.env, TMPDIR: folder } },
  })
  const ready = once(child, 'message')
  const exited = once(child, 'exit')
  await Promise.race([ready, exited.then(([code]) => Promise.reject(new Error(`it has exited with ${code}`)))])
  expect(await readdir(folder)).not.toEqual([])
  child.send('end')
  await exited
  await until(async () => (await readdir(folder)).length === 0, { what: 'its files are gone' })
  await until(async () => (await processesOf(folder)).length === 0, { what: 'its processes are gone' })
  await rm(folder, { recursive: true })
})

/** Lines of `ps` with what names the folder. */
async function processesOf(folder: string): Promise<readonly string[]> {
  const ps = spawn('ps', ['-eo', 'args'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const lines = (await ps.stdout.toArray()).join('').split('\n')
  return lines.filter((line) => line.includes(folder))
}
