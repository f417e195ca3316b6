import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configOf, ROOT, readText, type Settings } from './settings.ts'

/** The units start what they say, with no more rights than the page of installation states. */

/** The score of `systemd-analyze security`, from 0 to 10, times ten: lower is better. */
const EXPOSURE = 11
const UNITS = [
  ['phaseline.service', ['gateway', 'engine']],
  ['phaseline-agents.service', ['agents']],
] as const

function settingsOf(text: string): { readonly settings: Settings; readonly credentials: readonly string[] } {
  const values = (name: string) => [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  const pairs = values('Environment').flatMap((line) => line.split(' '))
  return {
    settings: Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2))) as Settings,
    credentials: values('LoadCredential').map((credential) => `%d/${credential.split(':')[0]}`),
  }
}

test.each(UNITS)('%s has settings that are ours', async (unit, roles) => {
  const text = readText(`deploy/systemd/${unit}`)
  const { settings, credentials } = settingsOf(text)
  const config = await configOf(settings, credentials)
  expect([...config.roles]).toEqual([...roles])
  expect(text).toContain(' serve --no-example')
  const [, stopSeconds] = /^TimeoutStopSec=(\d+)$/m.exec(text) ?? []
  expect(Number(stopSeconds) * 1_000).toBeGreaterThan(config.drain.timeoutMs)
  // No secret is in the environment.
  expect(Object.keys(settings).filter((name) => /TOKEN$|KEY$|DATABASE_URL$/.test(name))).toEqual([])
})

for (const [unit] of UNITS) {
  test(`${unit} has few rights`, (context) => {
    const file = join(ROOT, 'deploy/systemd', unit)
    const args = ['security', '--offline=yes', `--threshold=${EXPOSURE}`, file]
    const { error, status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    if (error || /offline/.test(stderr))
      return context.skip('systemd-analyze 250 or newer is not installed (package systemd)')
    expect([status, stdout]).toEqual([0, expect.stringContaining(`exposure level for ${unit}`)])
    expect(readText('docs/install.md')).toContain(`exposure of ${EXPOSURE / 10}`)
  })
}
